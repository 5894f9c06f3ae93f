/** The console on the built product: every page in every state, by keyboard, by two operators, and over broken lines. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test } from "@playwright/test";
import { type LaunchedServer, launchReady } from "../support/launched-server.ts";
import { ConsolePage, consolePages } from "./pages/console-page.ts";

const hostile =
  'Refund \u202Egpj.exe\u202C <img src=x onerror="window.ran=1"><script>window.ran=1</script> a\u200Bb';

let folder: string;
let server: LaunchedServer;
let ana: ConsolePage;

test.describe.configure({ mode: "serial" });

test.beforeAll(async ({ browser }) => {
  test.setTimeout(420_000);
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-console-"));
  // Started by root, the database runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  server = await launchReady({ dataFolder: folder, patience: 400_000 });
  ana = await ConsolePage.signedIn(browser, server.origin, server.signInLink ?? "");
  const { items } = await ana.read("/agents");
  for (const example of items[0].examples) await ana.start(example.input, example.id);
  await ana.start(hostile, "hostile");
  // Everything that waits for a person does so now; the rest has ended.
  await expect
    .poll(async () => (await ana.read("/runs?state=running&state=queued")).items.length, {
      timeout: 60_000,
    })
    .toBe(0);
});
test.afterAll(async () => {
  await ana?.context.close();
  await server?.end("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

test("every page is clean for axe and fits its window in both themes, on a phone and at 200 % zoom", async () => {
  test.setTimeout(600_000);
  const windows = [
    ["desktop", 1280, 800],
    ["phone", 390, 844],
    ["zoomed", 640, 400],
  ] as const;
  for (const scheme of ["light", "dark"] as const) {
    await ana.page.emulateMedia({ colorScheme: scheme });
    for (const [address, heading] of consolePages) {
      await ana.open(address);
      await expect(ana.page.getByRole("heading", { level: 1, name: heading })).toBeAttached();
      await ana.isLive();
      await ana.shoot(`${heading.toLowerCase().replace(" ", "-")}-${scheme}`);
      await ana.isAccessible(`${address} ${scheme}`);
      for (const [name, width, height] of windows) {
        await ana.page.setViewportSize({ width, height });
        await ana.fits(`${address} ${name}`);
      }
      await ana.page.setViewportSize({ width: 1280, height: 800 });
    }
  }
  await ana.page.emulateMedia({ colorScheme: "light" });
  expect(ana.faults).toEqual([]);
});

test("[C106] loading, failed, forbidden and empty lists each say which they are, and are clean for axe", async () => {
  test.setTimeout(200_000);
  const { page } = ana;
  const lists = ["approvals", "runs", "unknowns", "denials"] as const;
  const empty = { items: [], count: { value: 0, capped: false }, asOf: 0 };
  const states = {
    failed: {
      status: 503,
      json: { _tag: "StoreUnavailable", message: "The database refused." },
      says: "The database does not answer",
    },
    forbidden: {
      status: 403,
      json: { _tag: "Forbidden", message: "Not yours.", needs: "operator" },
      says: "Your role does not show this",
    },
    empty: {
      status: 200,
      json: empty,
      says: /Nothing waits for you|No run yet|No effect is in doubt|Nothing to look at/,
    },
  };
  for (const list of lists) {
    for (const [state, { status, json, says }] of Object.entries(states)) {
      await page.route(`**/api/v1/${list}?*`, (route) => route.fulfill({ status, json }));
      await ana.open(`/${list}`);
      await expect(page.getByText(says).first()).toBeVisible();
      if (list === "approvals") await ana.isAccessible(`${list} ${state}`);
      await page.unroute(`**/api/v1/${list}?*`);
    }
    await page.route(`**/api/v1/${list}?*`, () => {});
    await ana.open(`/${list}`);
    await expect(page.getByRole("status", { name: /Loading/ })).toBeVisible();
    if (list === "approvals") await ana.isAccessible(`${list} loading`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
});

test("[C054][C055][C056] hostile text is drawn as text with its hidden characters written out", async () => {
  const { page } = ana;
  await ana.open("/runs?text=Refund%20%E2%80%AE");
  await ana.open("/runs");
  await expect(page.getByText("\\u{202E}").first()).toBeVisible();
  await expect(page.getByText("<script>window.ran=1</script>").first()).toBeAttached();
  await page.getByText("\\u{202E}").first().click({ force: true });
  await page.waitForURL(/\/runs\/run_/);
  await expect(page.getByText("\\u{200B}").first()).toBeVisible();
  expect(await page.evaluate(() => "ran" in window)).toBe(false);
  expect(ana.faults).toEqual([]);
});

test("[C061] fast typing and a double click decide nothing", async () => {
  const { page } = ana;
  await ana.open("/approvals");
  const approve = page.getByRole("button", { name: /^Approve/ });
  await expect(approve).toBeVisible();
  await page.waitForTimeout(500);
  // Sent in one go: how fast the machine is must not decide how fast the typing looks.
  const typed = [..."banana a", "Enter", "Space", "a", "Enter", "Enter", "Space", "a", "Space"];
  await Promise.all(typed.map((key) => page.keyboard.press(key === " " ? "Space" : key)));
  await page.waitForTimeout(500);
  await ana.open("/approvals");
  await page.waitForTimeout(500);
  await approve.dblclick();
  await page.waitForTimeout(1_000);
  const { items } = await ana.read("/approvals?state=approved");
  expect(items).toEqual([]);
});

test("[C039] a hung decision says that it is checking and never shows what the server has not confirmed", async () => {
  const { page } = ana;
  await page.route("**/decision", () => {});
  await ana.open("/approvals");
  const approve = page.getByRole("button", { name: /^Approve/ });
  await expect(approve).toBeVisible();
  await page.waitForTimeout(500);
  await approve.click();
  await approve.click();
  await expect(page.locator('[data-sending="checking"]')).toBeVisible();
  await expect(page.getByText("No confirmation came back")).toBeVisible({ timeout: 20_000 });
  await expect(page.locator("[data-outcome]")).toHaveCount(0);
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[C039][C062] after a lost answer other words act no second time, and the page says what was carried out", async () => {
  const { page } = ana;
  const [waiting] = (await ana.read("/approvals")).items;
  const { input } = await ana.read(`/runs/${waiting.runId}`);
  const runId = await ana.start(input, "lost-answer");
  const isWaiting = async () => (await ana.read(`/runs/${runId}`)).state;
  await expect.poll(isWaiting, { timeout: 30_000 }).toBe("waiting");

  const doubt = page.locator('[data-lost-answer="in-doubt"]');
  const carriedOut = page.locator('[data-lost-answer="carried-out"]');
  const conflict = { _tag: "IdempotencyConflict", message: "used before", key: "c" };
  /** The first answer of a command is lost; to the second the server says that the first one acted. */
  const twice = async (route: string, words: string, confirm: RegExp): Promise<Array<string>> => {
    const ids: Array<string> = [];
    await page.route(route, async (call) => {
      ids.push(call.request().postDataJSON().commandId);
      await (ids.length === 1 ? call.abort() : call.fulfill({ status: 409, json: conflict }));
    });
    const box = page.getByRole("textbox", { name: /^(Reason|Note|Why not)/ });
    await box.fill(`${words} at first`);
    await page.getByRole("button", { name: confirm }).click();
    await expect(doubt.locator('[data-truth="read"]')).toBeVisible();
    await box.fill(`${words} in other words`);
    await page.getByRole("button", { name: confirm }).click();
    await expect(carriedOut).toContainText(`${words} at first`);
    await page.unroute(route);
    expect(new Set(ids).size, route).toBe(1);
    return ids;
  };

  const { wake, retry, ...explained } = await ana.read(`/runs/${runId}/explanation`);
  const possible = { possible: true, effect: "It goes on." };
  await page.route("**/explanation", (route) =>
    route.fulfill({ json: { ...explained, wake: possible, retry: possible } }),
  );
  await ana.open(`/runs/${runId}?view=attempts`);
  await ana.isLive();
  for (const verb of ["Wake", "Retry"]) {
    await page.getByRole("button", { name: `${verb}…` }).click();
    await twice(`**/${verb.toLowerCase()}`, verb, new RegExp(`^${verb} it$`));
    await page.getByRole("button", { name: "Close" }).click();
  }
  await page.unroute("**/explanation");
  expect([wake.possible, retry.possible]).toEqual([false, false]);

  await ana.open("/denials");
  await page.getByRole("button", { name: "Acknowledge…" }).first().click();
  await twice("**/acknowledge", "Noted", /^Acknowledge$/);
  await expect(carriedOut).toContainText("it is still open");

  await ana.open(`/approvals?request=${waiting.requestId}`);
  await ana.isLive();
  await page.getByRole("button", { name: /^Deny…/ }).click();
  await twice("**/decision", "Not now", /^Deny \w+$/);

  // This one really is carried out, and only its answer is lost.
  await ana.open(`/runs/${runId}`);
  await ana.isLive();
  await page.getByRole("button", { name: "Abort…" }).click();
  await page.route("**/abort", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole("textbox", { name: /^Reason/ }).fill("A wrong order");
  await page.getByRole("button", { name: "Abort the run" }).click();
  await expect(page.locator("[data-truth]")).toContainText("asked to abort it: A wrong order");
  await page.unroute("**/abort");
  await page.getByRole("textbox", { name: /^Reason/ }).fill("Another reason");
  await page.getByRole("button", { name: "Abort the run" }).click();
  await expect(carriedOut).toContainText("A wrong order");
  await page.getByRole("button", { name: "Close" }).click();
  await expect.poll(isWaiting, { timeout: 30_000 }).toBe("aborted");
});

test("[OP-07] a run that was put away says so on every address of it, with what is known", async () => {
  const { page } = ana;
  const archived = {
    _tag: "RunArchived",
    message: "This run ended completed and was moved to the archive 2026-01.jsonl.",
    outcome: "completed",
    settledAt: 1_760_000_000_000,
    archivedAt: 1_780_000_000_000,
    archive: "2026-01.jsonl",
  };
  await page.route("**/api/v1/runs/run_gone**", (route) =>
    route.fulfill({ status: 410, json: archived }),
  );
  for (const address of ["", "?turn=2&call=c1", "?view=records", "?view=exposure", "?at=12"]) {
    await ana.open(`/runs/run_gone${address}`);
    const said = page.locator("[data-archived]");
    await expect(said, address).toContainText("2026-01.jsonl");
    await expect(said.getByText("run_gone"), address).toBeVisible();
    // Next's own announcer of routes is an alert too, outside the content.
    await expect(page.locator("#content").getByRole("alert"), address).toHaveCount(0);
  }
  await ana.isAccessible("a run that was put away");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[C108] a call is approved by keyboard alone, and only the second press decides", async () => {
  const { page } = ana;
  await ana.open("/runs");
  await ana.isLive();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.waitForURL(/\/approvals/);
  await expect(page.getByRole("button", { name: /^Approve/ })).toBeVisible();
  await page.waitForTimeout(400);
  await page.keyboard.press("a");
  await expect(page.getByRole("button", { name: "Approve: press again" })).toBeFocused();
  await page.waitForTimeout(400);
  await page.keyboard.press("Enter");
  await expect(page.locator('[data-outcome="approved"]')).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await ana.isAccessible("the sheet of keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder(/Page, run id/).fill("Audit");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/audit/);
});

test("[C008][C022] of two operators one wins, and the other is told who, without a reload", async ({
  browser,
}) => {
  const { page } = ana;
  const ben = await ConsolePage.signedIn(
    browser,
    server.origin,
    await ana.linkFor("Ben Okoro", "decider"),
  );
  const { items } = await ana.read("/approvals");
  const request = `/approvals?request=${items[0].requestId}`;
  await ana.open(request);
  await ben.open(request);
  await ana.isLive();
  await expect(page.getByRole("button", { name: /^Approve/ })).toBeVisible();
  await ben.page.getByRole("button", { name: /Deny/ }).click();
  await ben.page
    .getByRole("textbox", { name: "Why not" })
    .fill("The customer has to send a photo first.");
  await ben.page.getByRole("button", { name: /^Deny / }).click();
  await expect(ben.page.locator('[data-outcome="denied"]')).toBeVisible();
  await expect(page.locator('[data-outcome="denied"]')).toContainText("Ben Okoro");
  await expect(page.getByRole("button", { name: /^Approve/ })).toHaveCount(0);
  await ben.context.close();
});

test("[C102][OP-08] an effect in doubt is resolved with reason and evidence, asked once, and the run goes on", async () => {
  const { page } = ana;
  await ana.open("/unknowns");
  const resolve = page.getByRole("button", { name: "Resolve" });
  await expect(resolve).toBeDisabled();
  await page.getByRole("radio", { name: /It never happened/ }).check();
  await page
    .getByRole("textbox", { name: "Evidence" })
    .fill("The provider's ledger has no entry under this key.");
  await page.getByRole("textbox", { name: "Reason" }).fill("Not booked.");
  await ana.isAccessible("the form of a resolution");
  await resolve.click();
  await page.getByRole("button", { name: "Press again to resolve" }).click();
  await expect(page.getByText("never-happened").first()).toBeVisible();
  await expect(page.getByText("stays in the run's history")).toBeVisible();
  const { items } = await ana.read("/unknowns?state=resolved");
  await expect
    .poll(async () => (await ana.read(`/runs/${items[0].runId}`)).state, { timeout: 30_000 })
    .toBe("completed");
});

test("[OP-05][OP-08] both queues are looked at as they were, without any act, and a decision leads to what was seen", async () => {
  test.setTimeout(360_000);
  const { page } = ana;
  const banner = page.locator("[data-past]");
  const acts = page.getByRole("button", { name: /^(Approve|Deny|Resolve|Give more time)/ });
  const looks = async (name: string) => {
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const [width, height] of [
        [1440, 900],
        [390, 844],
      ] as const) {
        await page.setViewportSize({ width, height });
        await ana.fits(`${name} ${width}`);
        await ana.shoot(`${name}-${scheme}-${width}`);
        await ana.isAccessible(`${name} ${scheme} ${width}`);
      }
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 800 });
  };

  for (const [path, past] of [
    ["/approvals", "Approvals as they were"],
    ["/unknowns", "Unknowns as they were"],
  ] as const) {
    await ana.open(path);
    await page.getByRole("button", { name: "Look back" }).click();
    await expect(banner).toContainText("This is the past");
    await expect(page.getByRole("heading", { level: 1, name: past })).toBeVisible();
    await expect(acts).toHaveCount(0);
    const sequence = Number(await banner.getAttribute("data-past"));
    await page.getByRole("button", { name: "event before" }).click();
    await expect
      .poll(async () => Number(await banner.getAttribute("data-past")))
      .toBe(sequence - 1);
    await page.getByRole("button", { name: "Back to now" }).click();
    await expect(banner).toHaveCount(0);
    // After the first event nothing waited and nothing was in doubt.
    await ana.open(`${path}?at=1`);
    await expect(page.getByText(/Nothing waited for anybody|No effect was in doubt/)).toBeVisible();
    await looks(`past-empty${path.replace("/", "-")}`);
    // A moment that is not in the log: why, and a way out.
    await ana.open(`${path}?at=0`);
    await expect(page.locator("#content").getByRole("alert")).toBeVisible();
    await looks(`past-none${path.replace("/", "-")}`);
    await page.getByRole("button", { name: "Back to now" }).click();
    await expect(page).not.toHaveURL(/[?&]at=/);
    await expect(page.getByRole("button", { name: "Look back" })).toBeVisible();
  }

  // From a decision to what stood before it was made, and from the audit too.
  const [decision] = (await ana.read("/audit?verb=decide-approval&accepted=yes&limit=1")).items;
  const { moment, target } = decision;
  const { state } = await ana.read(`/approvals/${target}`);
  await ana.open(`/approvals?state=${state}&request=${target}`);
  await page.getByRole("link", { name: "What they saw" }).click();
  await expect(banner).toHaveAttribute("data-past", String(moment - 1));
  await expect(page.locator(`[data-request="${target}"]`)).toBeVisible();
  await expect(page.getByText("Would have run with these arguments")).toBeVisible();
  await expect(page.getByRole("tree", { name: /as they were asked about/ })).toBeVisible();
  await expect(acts).toHaveCount(0);
  await looks("past-request");
  await page.getByRole("button", { name: "event after" }).click();
  await expect(banner).toHaveAttribute("data-past", String(moment));
  await expect(page.locator(`[data-request="${target}"]`)).toHaveCount(0);
  // What became of the run since: its arguments are away, the queue as it was is not.
  await page.route(`**/api/v1/approvals/${target}`, (route) =>
    route.fulfill({
      status: 410,
      json: {
        _tag: "RunArchived",
        message: "The run completed and was put away into an-archive.",
        outcome: "completed",
        settledAt: 1_700_000_000_000,
        archivedAt: 1_700_000_000_000,
        archive: "an-archive",
      },
    }),
  );
  await ana.open(`/approvals?request=${target}&at=${moment - 1}`);
  await expect(page.getByText("As it stood")).toBeVisible();
  await expect(page.locator("[data-archived]")).toContainText("an-archive");
  await looks("past-request-archived");
  await page.unrouteAll({ behavior: "ignoreErrors" });

  await ana.open("/audit?verb=decide-approval");
  const accepted = page.getByRole("button", { name: /accepted/ });
  await accepted.first().click();
  await looks("audit-moment");
  await page.getByRole("link", { name: "the queue before this act" }).click();
  await expect(banner).toHaveAttribute("data-past", String(moment - 1));
  await ana.open("/audit?verb=resolve-unknown");
  await accepted.first().click();
  await page.getByRole("link", { name: "the doubts before this act" }).click();
  await expect(page.getByRole("list", { name: "Effects that were in doubt" })).toBeVisible();
  await expect(acts).toHaveCount(0);
  await looks("past-doubts");

  // The run as it was then: exposure is asked for that moment.
  await page.getByRole("link", { name: "the run as it was then" }).first().click();
  await expect(banner).toBeVisible();
  await page.getByRole("tab", { name: /exposure/ }).click();
  const answered = page.waitForRequest(/exposure-explanation\?.*at=\d+/);
  await page.getByRole("textbox", { name: "Tool name" }).fill("issue_refund");
  await page.keyboard.press("Enter");
  await answered;
  await looks("past-exposure");
});

test("[OP-01][C091] a run is looked at as it was, without any act, and on its timeline as lanes and as a table", async () => {
  const { items } = await ana.read("/runs?state=waiting");
  const { runId } = items[0];
  const { page } = ana;
  await ana.open(`/runs/${runId}`);
  await expect(page.getByRole("button", { name: "Abort" })).toBeVisible();
  await page.getByRole("button", { name: "Look back" }).click();
  const banner = page.locator("[data-past]");
  await expect(banner).toContainText("This is the past");
  await expect(page).toHaveURL(/[?&]at=\d+/);
  await expect(page.getByRole("button", { name: "Abort" })).toHaveCount(0);
  const sequence = Number(await banner.getAttribute("data-past"));
  await page.getByRole("button", { name: "event before" }).click();
  await expect
    .poll(async () => Number(await banner.getAttribute("data-past")))
    .toBeLessThan(sequence);
  await ana.isAccessible("a run in the past");
  // Back to where nothing of its turn had been recorded: its records end there too.
  await page.getByRole("tab", { name: "records" }).click();
  const all = (await ana.read(`/runs/${runId}/records`)).items.length;
  await expect(async () => {
    const at = await banner.getAttribute("data-past");
    const stood = (await ana.read(`/runs/${runId}/records?at=${at}`)).items.length;
    if (stood === all) await page.getByRole("button", { name: "event before" }).click();
    expect(stood).toBeLessThan(all);
    await expect(page.locator('ol[aria-label="Records"] > li')).toHaveCount(stood);
  }).toPass();
  await page.getByRole("button", { name: "Back to now" }).click();
  await expect(banner).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Abort" })).toBeVisible();

  await page.getByRole("tab", { name: "timeline" }).click();
  const lane = page
    .locator("[data-lane]")
    .filter({ has: page.locator("code") })
    .first();
  await lane.click();
  await expect(page).toHaveURL(/[?&]call=/);
  await expect(lane).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("region", { name: "Chosen on the timeline" })).toBeVisible();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect(page).toHaveURL(/[?&]zoom=\d+-\d+/);
  await ana.isAccessible("a timeline");
  await page.getByRole("button", { name: "The whole run" }).click();
  await page.getByRole("button", { name: "Show as a table" }).click();
  const rows = page.getByRole("table").getByRole("row");
  expect(await rows.count()).toBeGreaterThan(2);
  await ana.isAccessible("a timeline as a table");
  await page.reload();
  await expect(page.getByRole("table")).toBeVisible();
});

test("[C064] when the line breaks the strip says so and locks decisions; afterwards the page equals a fresh load", async () => {
  const { page, context } = ana;
  await ana.open("/approvals");
  await ana.isLive();
  await expect(page.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await context.setOffline(true);
  await server.end("SIGTERM");
  await expect(page.locator('[data-connection="retrying"]')).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole("button", { name: /^Approve/ })).toBeDisabled();
  server = await launchReady({ dataFolder: folder, env: { PORT: new URL(server.origin).port } });
  await context.setOffline(false);
  await ana.isLive();
  await expect(page.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  const shown = await page.locator("[data-request]").count();
  await page.reload();
  await expect(page.locator("[data-request]")).toHaveCount(shown);
});
