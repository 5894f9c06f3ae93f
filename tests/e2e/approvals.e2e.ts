/** Deciding: by hand, by keyboard, by two people at once, and never by accident. */
import { expect, test } from "@playwright/test";
import { ConsolePage } from "./pages/console-page.ts";
import { launchedProduct } from "./pages/launched-product.ts";

const product = launchedProduct("approvals");

test("[C061] fast typing and a double click decide nothing", async () => {
  const { page } = product.ana;
  await product.ana.open("/approvals");
  const approve = page.getByRole("button", { name: /^Approve/ });
  await expect(approve).toBeVisible();
  await page.waitForTimeout(500);
  // Sent in one go: how fast the machine is must not decide how fast the typing looks.
  const typed = [..."banana a", "Enter", "Space", "a", "Enter", "Enter", "Space", "a", "Space"];
  await Promise.all(typed.map((key) => page.keyboard.press(key === " " ? "Space" : key)));
  await page.waitForTimeout(500);
  await product.ana.open("/approvals");
  await page.waitForTimeout(500);
  await approve.dblclick();
  await page.waitForTimeout(1_000);
  const { items } = await product.ana.read("/approvals?state=approved");
  expect(items).toEqual([]);
});

test("[C039] a hung decision says that it is checking and never shows what the server has not confirmed", async () => {
  const { page } = product.ana;
  await page.route("**/decision", () => {});
  await product.ana.open("/approvals");
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

test("[C108] a call is approved by keyboard alone, and only the second press decides", async () => {
  const { page } = product.ana;
  await product.ana.open("/runs");
  await product.ana.isLive();
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
  await product.ana.isAccessible("the sheet of keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder(/Page, run id/).fill("Audit");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/audit/);
});

test("[C008][C022] of two operators one wins, and the other is told who, without a reload", async ({
  browser,
}) => {
  const { page } = product.ana;
  const ben = await ConsolePage.signedIn(
    browser,
    product.server.origin,
    await product.ana.linkFor("Ben Okoro", "decider"),
  );
  const { items } = await product.ana.read("/approvals");
  const request = `/approvals?request=${items[0].requestId}`;
  await product.ana.open(request);
  await ben.open(request);
  await product.ana.isLive();
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
