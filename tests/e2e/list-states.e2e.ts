/** What every list and a run's page show while they have nothing to show, and while what they show may be old. */
import { expect, type Page, test } from "@playwright/test";
import { launchedProduct } from "./pages/launched-product.ts";

/** Address, what it asks the server for, and its words when there is nothing. */
const lists = [
  ["/approvals", "approvals", "Nothing waits for you"],
  ["/runs", "runs", "No run yet"],
  ["/unknowns", "unknowns", "No effect is in doubt"],
  ["/denials", "denials", "Nothing to look at"],
  ["/failures", "diagnostics", "No failure was captured"],
  ["/obligations", "obligations", "Nothing is owed"],
  ["/agents", "agents", "No agent is registered"],
  ["/workers", "workers", "No process drives threads"],
  ["/audit", "audit", "Nobody has done anything yet"],
] as const;

const answers = {
  failed: {
    status: 503,
    json: { _tag: "StoreUnavailable", message: "The database refused." },
  },
  forbidden: {
    status: 403,
    json: { _tag: "Forbidden", message: "Not yours.", needs: "operator" },
  },
  empty: {
    status: 200,
    json: { items: [], count: { value: 0, capped: false }, asOf: 0, now: 0 },
  },
} as const;

const product = launchedProduct("list-states");

const isCleanInBothThemes = async (what: string) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await product.ana.page.emulateMedia({ colorScheme });
    await product.ana.isAccessible(`${what} ${colorScheme}`);
  }
};

for (const [address, route, nothing] of lists)
  test(`[C106] ${address} says whether it is loading, failed, forbidden or empty, and each is clean for axe`, async () => {
    const { page } = product.ana;
    const asked = new RegExp(`/api/v1/${route}(\\?|$)`);
    const says = {
      failed: "The database does not answer",
      forbidden: "Your role does not show this",
      empty: nothing,
    };
    for (const state of ["failed", "forbidden", "empty"] as const) {
      await page.route(asked, (request) => request.fulfill(answers[state]));
      await product.ana.open(address);
      await expect(page.getByText(says[state]).first()).toBeVisible();
      await isCleanInBothThemes(`${address} ${state}`);
      await page.unroute(asked);
    }
    await page.route(asked, () => {});
    await product.ana.open(address);
    await expect(page.getByRole("status", { name: /Loading/ }).first()).toBeVisible();
    await isCleanInBothThemes(`${address} loading`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

test("[C106] a run's page says whether it is loading, failed, forbidden or not there, and each is clean for axe", async () => {
  const { page } = product.ana;
  const asked = /\/api\/v1\/runs\/run_/;
  const { items } = await product.ana.read("/runs");
  const address = `/runs/${items[0].runId}`;
  const says = {
    failed: "The database does not answer",
    forbidden: "Your role does not show this",
  };
  for (const state of ["failed", "forbidden"] as const) {
    await page.route(asked, (request) => request.fulfill(answers[state]));
    await product.ana.open(address);
    await expect(page.getByText(says[state]).first()).toBeVisible();
    await isCleanInBothThemes(`a run ${state}`);
    await page.unroute(asked);
  }
  await product.ana.open(`/runs/run_${"0".repeat(32)}`);
  await expect(page.locator("[role=alert]").first()).toBeVisible();
  await isCleanInBothThemes("a run that is not there");
  await page.route(asked, () => {});
  await product.ana.open(address);
  await expect(page.getByRole("status", { name: /Loading/ }).first()).toBeVisible();
  await isCleanInBothThemes("a run loading");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("[C086][C106] a read that is tried again after a 503 says so over the placeholder, until what was read is there or the error is", async () => {
  const { ana } = product;
  const { page } = ana;
  const { items } = await ana.read("/runs");
  const places = [
    ["runs", "/runs", /\/api\/v1\/runs(\?|$)/, page.locator("[data-run]").first()],
    [
      "run",
      `/runs/${items[0].runId}`,
      /\/api\/v1\/runs\/run_[^/]+$/,
      page.getByRole("tablist", { name: "Views of the run" }),
    ],
  ] as const;
  const tried = page.getByRole("status").filter({ hasText: "The server is busy, trying again." });
  for (const [name, address, asked, content] of places)
    for (const end of ["content", "error"] as const) {
      let release = (): void => {};
      const held = new Promise<void>((done) => {
        release = done;
      });
      let tries = 0;
      await page.route(asked, async (request) => {
        tries += 1;
        if (tries > 1) await held;
        await (tries > 1 && end === "content"
          ? request.continue()
          : request.fulfill(answers.failed));
      });
      await ana.open(address);
      await expect(tried).toBeVisible();
      await expect(page.getByRole("status", { name: /Loading/ }).first()).toBeVisible();
      if (end === "content") {
        await isCleanInBothThemes(`${address} tried again`);
        await ana.shootBothThemes(`tried-again-${name}`);
        await ana.shootOnPhone(`tried-again-${name}`);
      }
      release();
      await expect(
        end === "content" ? content : page.getByText("The database does not answer").first(),
      ).toBeVisible();
      await expect(tried).toHaveCount(0);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
});

test("[C064][C106] while the server is away every page keeps what it has and says that it may be old, and is clean for axe", async () => {
  test.setTimeout(180_000);
  const { context, origin } = product.ana;
  const tabs: Array<{ readonly address: string; readonly tab: Page; readonly empty: number }> = [];
  for (const [address] of lists) {
    const tab = await context.newPage();
    await tab.goto(`${origin}${address}`);
    await expect(tab.locator('[data-connection="live"]')).toBeVisible();
    await expect(tab.getByRole("status", { name: /Loading/ })).toHaveCount(0);
    tabs.push({ address, tab, empty: await tab.locator("[data-empty]").count() });
  }
  await product.restart(async () => {
    for (const { address, tab, empty } of tabs) {
      await tab.bringToFront();
      await expect(tab.locator('[data-connection="retrying"]')).toBeVisible({ timeout: 30_000 });
      await expect(tab.locator("[data-empty]")).toHaveCount(empty);
      await expect(tab.getByRole("status", { name: /Loading/ })).toHaveCount(0);
      await product.ana.isAccessible(`${address} stale`, tab);
    }
  });
  for (const { tab } of tabs) {
    await expect(tab.locator('[data-connection="live"]')).toBeVisible({ timeout: 30_000 });
    await tab.close();
  }
});
