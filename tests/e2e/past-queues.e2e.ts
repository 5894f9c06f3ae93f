/** Both queues as they were, and the ways that lead there. */
import { expect, type Page, test } from "@playwright/test";
import type { ConsolePage } from "./pages/console-page.ts";
import { isQuiet, launchedProduct, runEveryExample } from "./pages/launched-product.ts";

/** One decision and one resolution, so that the audit leads to what stood before them. */
const decideOnce = async (ana: ConsolePage): Promise<void> => {
  await runEveryExample(ana);
  const [asked] = (await ana.read("/approvals")).items;
  const { content } = await ana.read(`/approvals/${asked.requestId}`);
  await ana.command(`/approvals/${asked.requestId}/decision`, {
    commandId: "past-decides",
    decision: "approved",
    parametersDigest: content.parametersDigest,
    reason: "",
  });
  const [doubt] = (await ana.read("/unknowns")).items;
  const { parametersDigest } = await ana.read(`/unknowns/${doubt.unknownId}`);
  await ana.command(`/unknowns/${doubt.unknownId}/resolution`, {
    commandId: "past-resolves",
    resolution: "never-happened",
    parametersDigest,
    reason: "Not booked.",
    evidence: "The provider's ledger.",
  });
  await isQuiet(ana);
};

const product = launchedProduct("past", decideOnce);

const acts = (page: Page) =>
  page.getByRole("button", { name: /^(Approve|Deny|Resolve|Give more time)/ });
const banner = (page: Page) => page.locator("[data-past]");

/** The page as it stands, in both themes, wide and on a phone: nothing beyond the window, clean for axe. */
const looks = async (name: string) => {
  for (const scheme of ["light", "dark"] as const) {
    await product.ana.page.emulateMedia({ colorScheme: scheme });
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await product.ana.page.setViewportSize({ width, height });
      await product.ana.fits(`${name} ${width}`);
      await product.ana.shoot(`${name}-${scheme}-${width}`);
      await product.ana.isAccessible(`${name} ${scheme} ${width}`);
    }
  }
  await product.ana.page.emulateMedia({ colorScheme: "light" });
  await product.ana.page.setViewportSize({ width: 1280, height: 800 });
};

for (const [address, past] of [
  ["/approvals", "Approvals as they were"],
  ["/unknowns", "Unknowns as they were"],
] as const)
  test(`[OP-05][OP-08] ${address} is looked at as it was, without any act, and back to now`, async () => {
    const { page } = product.ana;
    await product.ana.open(address);
    await page.getByRole("button", { name: "Look back" }).click();
    await expect(banner(page)).toContainText("This is the past");
    await expect(page.getByRole("heading", { level: 1, name: past })).toBeVisible();
    await expect(acts(page)).toHaveCount(0);
    const sequence = Number(await banner(page).getAttribute("data-past"));
    await page.getByRole("button", { name: "event before" }).click();
    await expect
      .poll(async () => Number(await banner(page).getAttribute("data-past")))
      .toBe(sequence - 1);
    await page.getByRole("button", { name: "Back to now" }).click();
    await expect(banner(page)).toHaveCount(0);
    // After the first event nothing waited and nothing was in doubt.
    await product.ana.open(`${address}?at=1`);
    await expect(page.getByText(/Nothing waited for anybody|No effect was in doubt/)).toBeVisible();
    await looks(`past-empty${address.replace("/", "-")}`);
    // A moment that is not in the log: why, and a way out.
    await product.ana.open(`${address}?at=0`);
    await expect(page.locator("#content").getByRole("alert")).toBeVisible();
    await looks(`past-none${address.replace("/", "-")}`);
    await page.getByRole("button", { name: "Back to now" }).click();
    await expect(page).not.toHaveURL(/[?&]at=/);
    await expect(page.getByRole("button", { name: "Look back" })).toBeVisible();
  });

test("[OP-05][C081] a past that is cut says so, and what it leaves out", async () => {
  const { page } = product.ana;
  await page.route("**/api/v1/approvals/moments/*", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), more: true } });
  });
  await product.ana.open("/approvals");
  await page.getByRole("button", { name: "Look back" }).click();
  await expect(page.locator("[data-not-all]")).toContainText("1,000 oldest");
  await expect(page.locator("[data-count]")).toContainText("at least");
  await looks("past-cut");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[OP-05][OP-09] a decision leads to what stood before it was made, also where its run was put away since", async () => {
  const { page } = product.ana;
  // From a decision to what stood before it was made, and from the audit too.
  const [decision] = (await product.ana.read("/audit?verb=decide-approval&accepted=yes&limit=1"))
    .items;
  const { moment, target } = decision;
  const { state } = await product.ana.read(`/approvals/${target}`);
  await product.ana.open(`/approvals?state=${state}&request=${target}`);
  await page.getByRole("link", { name: "What they saw" }).click();
  await expect(banner(page)).toHaveAttribute("data-past", String(moment - 1));
  await expect(page.locator(`[data-request="${target}"]`)).toBeVisible();
  await expect(page.getByText("Would have run with these arguments")).toBeVisible();
  await expect(page.getByRole("tree", { name: /as they were asked about/ })).toBeVisible();
  await expect(acts(page)).toHaveCount(0);
  await looks("past-request");
  await page.getByRole("button", { name: "event after" }).click();
  await expect(banner(page)).toHaveAttribute("data-past", String(moment));
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
  await product.ana.open(`/approvals?request=${target}&at=${moment - 1}`);
  await expect(page.getByText("As it stood")).toBeVisible();
  await expect(page.locator("[data-archived]")).toContainText("an-archive");
  await looks("past-request-archived");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[OP-08][C097] acts in the audit lead to both queues before them, and from there to the run as it was", async () => {
  test.setTimeout(240_000);
  const { page } = product.ana;
  const [{ moment }] = (await product.ana.read("/audit?verb=decide-approval&limit=1")).items;
  await product.ana.open("/audit?verb=decide-approval");
  const accepted = page.getByRole("button", { name: /accepted/ });
  await accepted.first().click();
  await looks("audit-moment");
  await page.getByRole("link", { name: "the queue before this act" }).click();
  await expect(banner(page)).toHaveAttribute("data-past", String(moment - 1));
  await product.ana.open("/audit?verb=resolve-unknown");
  await accepted.first().click();
  await page.getByRole("link", { name: "the doubts before this act" }).click();
  await expect(page.getByRole("list", { name: "Effects that were in doubt" })).toBeVisible();
  await expect(acts(page)).toHaveCount(0);
  await looks("past-doubts");

  // The run as it was then: exposure is asked for that moment.
  await page.getByRole("link", { name: "the run as it was then" }).first().click();
  await expect(banner(page)).toBeVisible();
  await page.getByRole("tab", { name: /exposure/ }).click();
  const answered = page.waitForRequest(/exposure-explanation\?.*at=\d+/);
  await page.getByRole("textbox", { name: "Tool name" }).fill("issue_refund");
  await page.keyboard.press("Enter");
  await answered;
  await looks("past-exposure");
});
