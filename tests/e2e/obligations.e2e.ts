/** What is owed, in two tabs of one person: what changes in one is seen in the other by itself. */
import { expect, test } from "@playwright/test";
import { launchedProduct } from "./pages/launched-product.ts";

const product = launchedProduct("obligations");

test("[OP-03][C070] a decision and an abort in one tab change what the other says is owed, without a reload", async () => {
  const { page, context, origin } = product.ana;
  await product.ana.open("/obligations");
  await product.ana.isLive();
  const owed = page.locator("[data-obligation]");
  const before = (await product.ana.read("/obligations")).items.length;
  await expect(owed).toHaveCount(before);
  let loads = 0;
  page.on("framenavigated", () => (loads += 1));

  const other = await context.newPage();
  const [first] = (await product.ana.read("/approvals")).items;
  await other.goto(`${origin}/approvals?request=${first.requestId}`);
  await expect(other.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await other.waitForTimeout(400);
  await other.getByRole("button", { name: /^Approve/ }).click();
  await other.waitForTimeout(400);
  await other.getByRole("button", { name: /press again/i }).click();
  await expect(other.locator('[data-outcome="approved"]')).toBeVisible();
  const row = (runId: string) => page.locator(`[data-obligation="${runId}"]`);
  await expect(row(first.runId)).toHaveCount(0);

  const left = (await product.ana.read("/obligations")).items;
  expect(left.length).toBe(before - 1);
  await expect(owed).toHaveCount(left.length);
  const { runId } = left[0];
  await other.goto(`${origin}/runs/${runId}`);
  await other.getByRole("button", { name: "Abort…" }).click();
  await other.getByRole("textbox", { name: /^Reason/ }).fill("Not needed any more");
  await other.getByRole("button", { name: "Abort the run" }).click();
  await expect(row(runId)).toHaveCount(0, { timeout: 30_000 });
  await expect(owed).toHaveCount(before - 2);

  // A new run that comes to wait is owed too.
  const { input } = await product.ana.read(`/runs/${first.runId}`);
  const started = await product.ana.start(input, "second-tab");
  await expect(row(started)).toContainText("a person must decide", { timeout: 30_000 });
  expect(loads).toBe(0);
  await other.close();
});
