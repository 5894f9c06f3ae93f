/** Half a minute without network while the host goes on working: afterwards nothing on any page is old. */
import { type Browser, expect, type Page, test } from "@playwright/test";
import { type CuttableLine, startCuttableLine } from "../support/cuttable-line.ts";
import { ConsolePage } from "./pages/console-page.ts";
import { isQuiet, launchedProduct } from "./pages/launched-product.ts";

const cutMillis = 30_000;
const eventsAtLeast = 500;
/** One more run about so often: some fifty in all, which the run list shows on one page. */
const runEveryMillis = 700;

let line: CuttableLine;
const product = launchedProduct("network-cut");
test.afterAll(() => line?.close());

const sequence = async (): Promise<number> => (await product.ana.read("/runs?limit=1")).asOf;

/** What stands there, with the moments that are counted from in place of the ages that tick. */
const textOf = (page: Page, what: string): Promise<ReadonlyArray<string>> =>
  page.locator(what).evaluateAll((elements) =>
    elements.map((element) => {
      const copy = element.cloneNode(true);
      if (!(copy instanceof Element)) return "";
      for (const time of copy.querySelectorAll("time")) time.replaceWith(time.dateTime);
      return copy.textContent;
    }),
  );

interface Tab {
  readonly address: string;
  readonly page: Page;
  /** Selectors of all that must not differ from a fresh load. */
  readonly shows: ReadonlyArray<string>;
}

const pagesBadges = 'nav[aria-label="Pages"] a';

const openTabs = async (
  context: { readonly newPage: () => Promise<Page> },
  addresses: { readonly kept: string; readonly decided: string },
): Promise<ReadonlyArray<Tab>> => {
  const tabs: ReadonlyArray<readonly [address: string, shows: ReadonlyArray<string>]> = [
    ["/runs", ["[data-run]", "[data-count]", pagesBadges]],
    [
      `/approvals?request=${addresses.kept}`,
      ['ul[aria-label="Approvals"] > li', "[data-count]", pagesBadges],
    ],
    ["/unknowns", ['ul[aria-label="Effects in doubt"] > li', pagesBadges]],
    [`/runs/${addresses.decided}`, ["#content", pagesBadges]],
  ];
  const opened: Array<Tab> = [];
  for (const [address, shows] of tabs) {
    const page = await context.newPage();
    // Only rows in view are drawn, so all of them are to be in view.
    await page.setViewportSize({ width: 1280, height: 4_000 });
    await page.goto(`${line.origin}${address}`);
    await expect(page.locator('[data-connection="live"]')).toBeVisible();
    for (const what of shows) await expect(page.locator(what).first()).toBeVisible();
    opened.push({ address, page, shows });
  }
  return opened;
};

/** Runs of every kind, one after the other, until the cut has lasted long enough and seen enough. */
const workMeanwhile = async (from: number): Promise<void> => {
  const { items } = await product.ana.read("/agents");
  const until = Date.now() + cutMillis;
  for (let count = 0; Date.now() < until || (await sequence()) - from < eventsAtLeast; count += 1) {
    const example = items[0].examples[count % items[0].examples.length];
    await product.ana.start(example.input, `meanwhile-${count}`);
    await product.ana.page.waitForTimeout(runEveryMillis);
  }
  await isQuiet(product.ana);
};

const signBenIn = async (browser: Browser): Promise<ConsolePage> => {
  line = await startCuttableLine(product.server.origin);
  const link = new URL(await product.ana.linkFor("Ben Okoro", "operator"));
  return ConsolePage.signedIn(
    browser,
    line.origin,
    `${line.origin}${link.pathname}${link.search}${link.hash}`,
  );
};

test("[C064][C070][C071] 30 s without network during 500 events: lists, queue, badges and a run then equal a fresh load", async ({
  browser,
}) => {
  test.setTimeout(180_000);
  const { ana } = product;
  const ben = await signBenIn(browser);
  const waiting = (await ana.read("/approvals")).items;
  const refund = waiting.find((item: { toolName: string }) => item.toolName === "issue_refund");
  const kept = waiting.find((item: { runId: string }) => item.runId !== refund.runId);
  const addresses = { kept: kept.requestId, decided: refund.runId };
  const tabs = await openTabs(ben.context, addresses);
  const [list, queue, , run] = tabs.map(({ page }) => page);
  if (list === undefined || queue === undefined || run === undefined) throw new Error("no tabs");
  const before = await textOf(list, "[data-run]");
  const stillWaits = run.locator('[data-call][data-state="waiting"]');
  await expect(stillWaits).toHaveCount(1);

  const from = await sequence();
  await ben.context.setOffline(true);
  line.cut();
  expect(line.broken()).toBeGreaterThan(0);
  for (const { page } of tabs)
    await expect(page.locator('[data-connection="retrying"]')).toBeVisible({ timeout: 20_000 });
  await expect(queue.getByRole("button", { name: /^Approve/ })).toBeDisabled();

  const { parametersDigest } = (await ana.read(`/approvals/${refund.requestId}`)).content;
  const approval = { commandId: "meanwhile-approves", decision: "approved", reason: "" };
  await ana.command(`/approvals/${refund.requestId}/decision`, { ...approval, parametersDigest });
  await workMeanwhile(from);
  const to = await sequence();
  expect(to - from, "events during the cut").toBeGreaterThanOrEqual(eventsAtLeast);
  expect((await ana.read(`/runs/${refund.runId}`)).state).toBe("completed");
  // Nothing of it has reached the browser.
  expect(await textOf(list, "[data-run]")).toEqual(before);
  await expect(stillWaits).toHaveCount(1);
  await expect(list.locator("[data-new-runs]")).toHaveCount(0);

  line.heal();
  const healed = Date.now();
  await ben.context.setOffline(false);
  for (const { page } of tabs)
    await expect(page.locator('[data-connection="live"]')).toBeVisible({ timeout: 25_000 });
  const live = Date.now() - healed;
  await list.locator("[data-new-runs]").click({ timeout: 15_000 });
  await expect(
    run.locator("#content").getByText("completed", { exact: true }).first(),
  ).toBeVisible();
  const caughtUp = Date.now() - healed;

  const fresh = await browser.newContext({ storageState: await ben.context.storageState() });
  const freshTabs = await openTabs(fresh, addresses);
  for (const [index, { page, address, shows }] of tabs.entries())
    for (const what of shows) {
      const there = freshTabs[index]?.page;
      if (there === undefined) throw new Error("a tab is missing");
      await expect(async () => {
        const [shown, loaded] = await Promise.all([textOf(page, what), textOf(there, what)]);
        expect(loaded.length, `${address} ${what}`).toBeGreaterThan(0);
        expect(shown, `${address} ${what}`).toEqual(loaded);
      }).toPass({ timeout: 10_000 });
    }
  // Equal because both are current, not because both are old.
  expect(await textOf(list, "[data-run]")).toHaveLength(
    (await ana.read("/runs?limit=200")).items.length,
  );
  test.info().annotations.push({
    type: "seen",
    description: `${to - from} events, live after ${live} ms, caught up after ${caughtUp} ms`,
  });
  expect(ben.faults).toEqual([]);
  await fresh.close();
  await ben.context.close();
});
