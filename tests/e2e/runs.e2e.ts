/** A run on its own page: hostile text, put away, as it was, and on its timeline. */
import { expect, test } from "@playwright/test";
import { isQuiet, launchedProduct, runEveryExample } from "./pages/launched-product.ts";

const hostile =
  'Refund \u202Egpj.exe\u202C <img src=x onerror="window.ran=1"><script>window.ran=1</script> a\u200Bb';

const product = launchedProduct("runs", async (ana) => {
  await runEveryExample(ana);
  await ana.start(hostile, "hostile");
  await isQuiet(ana);
});

test("[C054][C055][C056] hostile text is drawn as text with its hidden characters written out", async () => {
  const { page } = product.ana;
  await product.ana.open("/runs?text=Refund%20%E2%80%AE");
  await product.ana.open("/runs");
  await expect(page.getByText("\\u{202E}").first()).toBeVisible();
  await expect(page.getByText("<script>window.ran=1</script>").first()).toBeAttached();
  await page.getByText("\\u{202E}").first().click({ force: true });
  await page.waitForURL(/\/runs\/run_/);
  await expect(page.getByText("\\u{200B}").first()).toBeVisible();
  expect(await page.evaluate(() => "ran" in window)).toBe(false);
  expect(product.ana.faults).toEqual([]);
});

const archived = {
  _tag: "RunArchived",
  message: "This run ended completed and was moved to the archive 2026-01.jsonl.",
  outcome: "completed",
  settledAt: 1_760_000_000_000,
  archivedAt: 1_780_000_000_000,
  archive: "2026-01.jsonl",
};

test("[OP-07] a run that was put away says so on every address of it, with what is known", async () => {
  const { page } = product.ana;
  await page.route("**/api/v1/runs/run_gone**", (route) =>
    route.fulfill({ status: 410, json: archived }),
  );
  for (const address of ["", "?turn=2&call=c1", "?view=records", "?view=exposure", "?at=12"]) {
    await product.ana.open(`/runs/run_gone${address}`);
    const said = page.locator("[data-archived]");
    await expect(said, address).toContainText("2026-01.jsonl");
    await expect(said.getByText("run_gone"), address).toBeVisible();
    // Next's own announcer of routes is an alert too, outside the content.
    await expect(page.locator("#content").getByRole("alert"), address).toHaveCount(0);
  }
  await product.ana.isAccessible("a run that was put away");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[OP-07] what a run held that was put away says so by its own id, and leads to that run", async () => {
  const { page } = product.ana;
  await page.route(/\/api\/v1\/\w+\/(apr|unk|dia)_gone/, (route) =>
    route.fulfill({ status: 410, json: { ...archived, runId: "run_gone" } }),
  );
  for (const address of [
    "/approvals?request=apr_gone",
    "/unknowns?unknown=unk_gone",
    "/failures?diagnostic=dia_gone",
  ]) {
    await product.ana.open(address);
    const said = page.locator("[data-archived]");
    await expect(said, address).toContainText("The run that this belonged to was put away");
    await expect(said.getByText("run_gone"), address).toBeVisible();
    await expect(said.getByRole("link", { name: "Its audit rows" }), address).toHaveAttribute(
      "href",
      "/audit?runId=run_gone",
    );
    await product.ana.isAccessible(address);
  }
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[C104] a filter that stands in the address is told, also of an agent or tool that nobody has any more", async () => {
  const { page } = product.ana;
  await product.ana.open("/runs?agentId=gone-desk&tool=gone_tool&threadId=thr_gone&outcome=failed");
  await expect(page.getByLabel("Agent", { exact: true })).toHaveValue("gone-desk");
  await expect(page.getByLabel("Tool", { exact: true })).toHaveValue("gone_tool");
  await expect(page.getByText("thr_gone")).toBeVisible();
  await page.getByRole("button", { name: "Not only of thread" }).click();
  await expect(page).not.toHaveURL(/threadId/);
  await expect(page.getByRole("button", { name: "Not only with the outcome" })).toBeVisible();
  await product.ana.isAccessible("every filter");
  await product.ana.open("/agents?agent=gone-desk");
  await expect(page.getByRole("note")).toContainText("gone-desk");
});

test("[R77] a run whose answer is a call as text says so above it, with the evidence a step away", async () => {
  const { page } = product.ana;
  const [{ runId }] = (await product.ana.read("/runs?state=completed&limit=1")).items;
  await page.route(`**/api/v1/runs/${runId}`, async (route) => {
    const answer = await route.fetch();
    const callAsText = { toolName: "issue_refund", diagnosticId: "dia_of_text" };
    await route.fulfill({ response: answer, json: { ...(await answer.json()), callAsText } });
  });
  await product.ana.open(`/runs/${runId}`);
  const said = page.locator("[data-call-as-text]");
  await expect(said).toContainText("issue_refund");
  await expect(said).toContainText("Nothing of it was started");
  await expect(said.getByRole("link", { name: "Private evidence" })).toHaveAttribute(
    "href",
    "/failures?diagnostic=dia_of_text",
  );
  await product.ana.isAccessible("a run whose answer is a call as text");
  await product.ana.shoot("call-as-text");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[OP-01][C091] a run is looked at as it was, without any act, and on its timeline as lanes and as a table", async () => {
  const { items } = await product.ana.read("/runs?state=waiting");
  const { runId } = items[0];
  const { page } = product.ana;
  await product.ana.open(`/runs/${runId}`);
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
  await product.ana.isAccessible("a run in the past");
  // Back to where nothing of its turn had been recorded: its records end there too.
  await page.getByRole("tab", { name: "records" }).click();
  const all = (await product.ana.read(`/runs/${runId}/records`)).items.length;
  await expect(async () => {
    const at = await banner.getAttribute("data-past");
    const stood = (await product.ana.read(`/runs/${runId}/records?at=${at}`)).items.length;
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
  await product.ana.isAccessible("a timeline");
  await page.getByRole("button", { name: "The whole run" }).click();
  await page.getByRole("button", { name: "Show as a table" }).click();
  const rows = page.getByRole("table").getByRole("row");
  expect(await rows.count()).toBeGreaterThan(2);
  await product.ana.isAccessible("a timeline as a table");
  await page.reload();
  await expect(page.getByRole("table")).toBeVisible();
});
