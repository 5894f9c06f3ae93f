/** Every page of the console on the built product, in both themes, on a phone and at 200 % zoom. */
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
