/** What the console says and allows while the line is broken, and afterwards. */
import { expect, test } from "@playwright/test";
import { launchedProduct } from "./pages/launched-product.ts";

const product = launchedProduct("connection");

test("[C064] when the line breaks the strip says so and locks decisions; afterwards the page equals a fresh load", async () => {
  const { page, context } = product.ana;
  await product.ana.open("/approvals");
  await product.ana.isLive();
  await expect(page.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await context.setOffline(true);
  await product.restart(async () => {
    await expect(page.locator('[data-connection="retrying"]')).toBeVisible({ timeout: 30_000 });
    await expect(page.getByRole("button", { name: /^Approve/ })).toBeDisabled();
  });
  await context.setOffline(false);
  await product.ana.isLive();
  await expect(page.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  const shown = await page.locator("[data-request]").count();
  await page.reload();
  await expect(page.locator("[data-request]")).toHaveCount(shown);
});

test("[C064] after a restart of the server alone every tab is live again within 4 s, also one that follows through another", async () => {
  const { page, context, origin } = product.ana;
  await product.ana.open("/approvals");
  await product.ana.isLive();
  const second = await context.newPage();
  await second.goto(`${origin}/runs`);
  const tabs = [page, second];
  for (const tab of tabs) await expect(tab.locator('[data-connection="live"]')).toBeVisible();
  await product.restart(async () => {
    // Long enough for a wait that grows without a cap to be far longer than what is promised.
    await page.waitForTimeout(25_000);
    for (const tab of tabs) await expect(tab.locator('[data-connection="retrying"]')).toBeVisible();
  });
  const ready = Date.now();
  for (const tab of tabs)
    await expect(tab.locator('[data-connection="live"]')).toBeVisible({ timeout: 30_000 });
  const live = Date.now() - ready;
  test.info().annotations.push({ type: "seen", description: `live ${live} ms after ready` });
  expect(live).toBeLessThan(4_000);
  await second.close();
});
