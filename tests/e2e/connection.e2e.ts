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
