/** What only this console has around a decision, on the built product: a suggested call, who is looking, a proof that holds, one notification. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type BrowserContext, expect, type Page, test } from "@playwright/test";
import { type LaunchedServer, launchReady } from "../support/launched-server.ts";
import { ConsolePage } from "./pages/console-page.ts";

const root = path.resolve(import.meta.dirname, "../..");
let folder: string;
let server: LaunchedServer;
let ana: ConsolePage;
let runs = 0;

test.describe.configure({ mode: "serial" });

test.beforeAll(async ({ browser }) => {
  test.setTimeout(420_000);
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-opinions-"));
  // Started by root, the database runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  server = await launchReady({ dataFolder: folder, patience: 400_000 });
  ana = await ConsolePage.signedIn(browser, server.origin, server.signInLink ?? "");
});
test.afterAll(async () => {
  await ana?.context.close();
  await server?.end("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** A run that waits for an approval of a refund; answers run and request. */
const refundThatWaits = async (): Promise<{ runId: string; requestId: string }> => {
  const { items } = await ana.read("/agents");
  const example = items[0].examples.find(
    ({ title }: { title: string }) => title === "Refund above the limit",
  );
  const runId = await ana.start(example.input, `opinion-${(runs += 1)}`);
  const pending = async () => (await ana.read(`/approvals?runId=${runId}`)).items;
  await expect.poll(async () => (await pending()).length).toBe(1);
  return { runId, requestId: (await pending())[0].requestId };
};

test("[A-06][C059] a denial suggests other arguments: typed, checked by line and by the server, told to the model, never run", async ({
  browser,
}) => {
  const { runId, requestId } = await refundThatWaits();
  const { page } = ana;
  const ben = await ConsolePage.signedIn(
    browser,
    server.origin,
    await ana.linkFor("Ben Okoro", "decider"),
  );
  await ben.open(`/approvals?request=${requestId}`);
  await ana.open(`/approvals?request=${requestId}`);
  await expect(page.getByText("Ben Okoro is looking at this too.")).toBeVisible();
  // A closed tab says nothing; it is only not believed for longer than a look lasts.
  await ben.context.close();
  await expect(page.locator('[data-preview="facts"]')).toContainText("$129.90");
  await page.getByRole("button", { name: "Deny…" }).click();
  await page.getByRole("textbox", { name: "Why not" }).fill("Half of it was agreed.");
  await page.getByRole("button", { name: "Suggest other arguments…" }).click();
  const editor = page.getByRole("textbox", { name: "Suggested arguments" });
  const asked = await editor.inputValue();
  const suggest = page.getByRole("button", { name: "Deny issue_refund and suggest" });
  await expect(suggest).toBeDisabled();
  await editor.fill(asked.replace('"129.90",', '"64.95",,'));
  await expect(page.getByRole("list", { name: "Problems" })).toContainText("Line ");
  await expect(suggest).toBeDisabled();
  await editor.fill(asked.replace('"129.90"', "64.95"));
  await expect(page.getByRole("list", { name: "Problems" })).toContainText("must be a string");
  await suggest.click();
  await expect(page.getByText("The server refuses it, line 2")).toBeVisible();
  expect((await ana.read(`/approvals/${requestId}`)).state).toBe("pending");
  await editor.fill(asked.replace('"129.90"', '"64.95"'));
  await expect(page.getByText("The server refuses it")).toBeHidden();
  await ana.isAccessible("the editor of a suggestion");
  await ana.shoot("suggestion");
  const width = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await editor.fill(asked.replace('"129.90"', `"${"long ".repeat(60)}${"x".repeat(300)}"`));
  await ana.fits("the editor of a suggestion on a phone");
  const hidden = await editor.evaluate((box) => box.scrollWidth - box.clientWidth);
  expect(hidden, "pixels of the longest line that a phone hides").toBeLessThanOrEqual(0);
  await ana.shoot("suggestion-phone");
  await page.setViewportSize(width ?? { width: 1280, height: 800 });
  await editor.fill(asked.replace('"129.90"', '"64.95"'));
  await suggest.click();
  await expect(page.getByText("Denied by")).toBeVisible();
  await expect(page.getByRole("region", { name: "Suggested to the model" })).toContainText("64.95");
  const detail = await ana.read(`/approvals/${requestId}`);
  expect(detail.suggestion.amount).toBe("64.95");
  expect(detail.content.effectiveParameters.amount).toBe("129.90");
  await expect
    .poll(async () => JSON.stringify(await ana.read(`/runs/${runId}/records?limit=200`)))
    .toContain('suggestedArguments\\":{\\"amount\\":\\"64.95');
  expect(ana.faults).toEqual([]);
});

test("[C005][C086][C104] buttons are in the first screen, a slow card does not hold the selection, and reload, back and a link keep the view", async () => {
  const first = await refundThatWaits();
  const second = await refundThatWaits();
  const { page } = ana;
  await page.setViewportSize({ width: 1280, height: 720 });
  await ana.open(`/approvals?request=${first.requestId}`);
  for (const name of ["Approve", "Deny…"])
    await expect(page.getByRole("button", { name, exact: true })).toBeInViewport();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(`**/api/v1/approvals/${second.requestId}`, async (route) => {
    await held;
    // The card that was left has given its request up by now.
    await route.continue().catch(() => {});
  });
  await page.locator(`[data-request="${second.requestId}"]`).click();
  await expect(page.locator('[aria-current="true"][data-request]')).toHaveAttribute(
    "data-request",
    second.requestId,
  );
  await expect(page.getByLabel("Loading the call")).toBeAttached();
  await page.locator(`[data-request="${first.requestId}"]`).click();
  await expect(page.getByRole("article", { name: "Approval of issue_refund" })).toBeVisible();
  release();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  const address = page.url();
  await page.reload();
  await expect(
    page.locator(`[aria-current="true"][data-request="${first.requestId}"]`),
  ).toBeVisible();
  expect(page.url()).toBe(address);
  await page.getByLabel("State").selectOption("denied");
  await expect(page.getByText("1 denied")).toBeVisible();
  await page.reload();
  await expect(page.getByText("1 denied")).toBeVisible();
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("[scenario 10][C098] a run's proof pack is downloaded and holds without the server; one altered letter does not", async () => {
  const { runId, requestId } = await refundThatWaits();
  const { page } = ana;
  const { parametersDigest } = (await ana.read(`/approvals/${requestId}`)).content;
  const decision = { commandId: "proof-approves", decision: "approved", reason: "" };
  await ana.command(`/approvals/${requestId}/decision`, { ...decision, parametersDigest });
  await ana.open(`/runs/${runId}`);
  await expect(page.getByText("completed").first()).toBeVisible({ timeout: 30_000 });
  await page.getByRole("button", { name: "Proof…" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download", exact: true }).click();
  const file = path.join(folder, "proof.ndjson");
  await (await download).saveAs(file);
  await expect(page.getByText("npx effect-agent verify")).toBeVisible();
  await ana.isAccessible("the proof dialog");
  await ana.shoot("proof");
  const build = spawnSync(process.execPath, ["scripts/build-library.mjs", "--lenient"], {
    cwd: root,
  });
  expect(build.status).toBe(0);
  const verify = spawnSync(process.execPath, ["dist/cli/effect-agent.js", "verify", file], {
    cwd: root,
    encoding: "utf8",
  });
  expect(verify.stdout).toContain("everything holds");
  expect(verify.stdout).toContain(", 1 approval)");
  expect(verify.status).toBe(0);
  writeFileSync(file, readFileSync(file, "utf8").replace("129.90", "129.91"));
  const altered = spawnSync(process.execPath, ["dist/cli/effect-agent.js", "verify", file], {
    cwd: root,
    encoding: "utf8",
  });
  expect(altered.stdout).toContain("BROKEN");
  expect(altered.status).toBe(1);
});

/** Records notifications in place of the browser's own, and lets a test hide the page. */
const watchNotifications = async (context: BrowserContext): Promise<void> => {
  await context.addInitScript(() => {
    const shown: Array<string> = [];
    Object.assign(window, { shown, isHidden: false });
    class Recorded {
      static permission = "default";
      static requestPermission() {
        Recorded.permission = "granted";
        return Promise.resolve("granted");
      }
      constructor(title: string, options: { body: string }) {
        shown.push(`${title}: ${options.body}`);
      }
    }
    if (localStorage.getItem("e2e-granted") === "yes") Recorded.permission = "granted";
    Object.assign(window, { Notification: Recorded });
    Object.defineProperty(document, "visibilityState", {
      get: () => (Reflect.get(window, "isHidden") ? "hidden" : "visible"),
    });
  });
};
const hide = (page: Page, hidden: boolean) =>
  page.evaluate((isHidden) => {
    Object.assign(window, { isHidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
const shownBy = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => Reflect.get(window, "shown"));

test("[C003] notifications: permission asked by the switch only, none while a tab is in view, one for two hidden tabs", async ({
  browser,
}) => {
  const context = await browser.newContext();
  await watchNotifications(context);
  const first = await context.newPage();
  await first.goto(await ana.linkFor("Cleo Night", "decider"));
  await first.getByRole("button", { name: "Sign in with this link" }).click();
  await first.waitForURL(/\/approvals/);
  await first.goto(`${server.origin}/settings`);
  const control = first.getByRole("checkbox", { name: /Notify me/ });
  await expect(control).not.toBeChecked();
  await control.check();
  await expect(control).toBeChecked();
  await first.evaluate(() => localStorage.setItem("e2e-granted", "yes"));
  const second = await context.newPage();
  for (const tab of [first, second]) {
    await tab.goto(`${server.origin}/runs`);
    await expect(tab.locator('[data-connection="live"]')).toBeVisible();
  }
  const all = async () => [...(await shownBy(first)), ...(await shownBy(second))];
  await hide(first, true);
  const seen = await refundThatWaits();
  await expect(
    second.getByText(seen.runId.slice(0, 8)).or(second.locator("[data-count]")).first(),
  ).toBeVisible();
  await expect.poll(() => second.evaluate(() => document.title)).toMatch(/^\(\d+\)/);
  expect(await all()).toEqual([]);
  await hide(second, true);
  await refundThatWaits();
  await expect.poll(all).toHaveLength(1);
  expect((await all())[0]).toMatch(/^Approval, high risk: issue_refund: Refund \$129\.90/);
  await context.close();
});
