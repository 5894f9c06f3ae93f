/** An effect in doubt, settled by a person. */
import { expect, test } from "@playwright/test";
import { launchedProduct } from "./pages/launched-product.ts";

const product = launchedProduct("unknowns");

test("[C102][OP-08] an effect in doubt is resolved with reason and evidence, asked once, and the run goes on", async () => {
  const { page } = product.ana;
  await product.ana.open("/unknowns");
  const resolve = page.getByRole("button", { name: "Resolve" });
  await expect(resolve).toBeDisabled();
  await page.getByRole("radio", { name: /It never happened/ }).check();
  await page
    .getByRole("textbox", { name: "Evidence" })
    .fill("The provider's ledger has no entry under this key.");
  await page.getByRole("textbox", { name: "Reason" }).fill("Not booked.");
  await product.ana.isAccessible("the form of a resolution");
  await resolve.click();
  await page.getByRole("button", { name: "Press again to resolve" }).click();
  await expect(page.getByText("never-happened").first()).toBeVisible();
  await expect(page.getByText("stays in the run's history")).toBeVisible();
  const { items } = await product.ana.read("/unknowns?state=resolved");
  await expect
    .poll(async () => (await product.ana.read(`/runs/${items[0].runId}`)).state, {
      timeout: 30_000,
    })
    .toBe("completed");
});
