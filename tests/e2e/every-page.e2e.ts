/** Every page of the console on the built product, in both themes and in the states of a list. */
import { expect, test } from "@playwright/test";
import { consolePages } from "./pages/console-page.ts";
import { launchedProduct } from "./pages/launched-product.ts";

const windows = [
  ["desktop", 1280, 800],
  ["phone", 390, 844],
  ["zoomed", 640, 400],
] as const;

const product = launchedProduct("pages");

for (const scheme of ["light", "dark"] as const)
  test(`every page is clean for axe and fits its window, on a phone and at 200 % zoom, ${scheme}`, async () => {
    test.setTimeout(300_000);
    await product.ana.page.emulateMedia({ colorScheme: scheme });
    for (const [address, heading] of consolePages) {
      await product.ana.open(address);
      await expect(
        product.ana.page.getByRole("heading", { level: 1, name: heading }),
      ).toBeAttached();
      await product.ana.isLive();
      await product.ana.shoot(`${heading.toLowerCase().replace(" ", "-")}-${scheme}`);
      await product.ana.isAccessible(`${address} ${scheme}`);
      for (const [name, width, height] of windows) {
        await product.ana.page.setViewportSize({ width, height });
        await product.ana.fits(`${address} ${name}`);
      }
      await product.ana.page.setViewportSize({ width: 1280, height: 800 });
    }
    await product.ana.page.emulateMedia({ colorScheme: "light" });
    expect(product.ana.faults).toEqual([]);
  });

test("[C106] loading, failed, forbidden and empty lists each say which they are, and are clean for axe", async () => {
  test.setTimeout(200_000);
  const { page } = product.ana;
  const lists = ["approvals", "runs", "unknowns", "denials"] as const;
  const empty = { items: [], count: { value: 0, capped: false }, asOf: 0 };
  const states = {
    failed: {
      status: 503,
      json: { _tag: "StoreUnavailable", message: "The database refused." },
      says: "The database does not answer",
    },
    forbidden: {
      status: 403,
      json: { _tag: "Forbidden", message: "Not yours.", needs: "operator" },
      says: "Your role does not show this",
    },
    empty: {
      status: 200,
      json: empty,
      says: /Nothing waits for you|No run yet|No effect is in doubt|Nothing to look at/,
    },
  };
  for (const list of lists) {
    for (const [state, { status, json, says }] of Object.entries(states)) {
      await page.route(`**/api/v1/${list}?*`, (route) => route.fulfill({ status, json }));
      await product.ana.open(`/${list}`);
      await expect(page.getByText(says).first()).toBeVisible();
      if (list === "approvals") await product.ana.isAccessible(`${list} ${state}`);
      await page.unroute(`**/api/v1/${list}?*`);
    }
    await page.route(`**/api/v1/${list}?*`, () => {});
    await product.ana.open(`/${list}`);
    await expect(page.getByRole("status", { name: /Loading/ })).toBeVisible();
    if (list === "approvals") await product.ana.isAccessible(`${list} loading`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
});
