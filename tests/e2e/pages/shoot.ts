/** Screenshots of the built product, kept in one folder for whoever looks at them. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Page } from "@playwright/test";

const shots = process.env["SCREENSHOTS"] ?? "test-results/screenshots";

/** The page as it stands. */
export const shoot = async (page: Page, name: string): Promise<void> => {
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: path.join(shots, `${name}.png`) });
};

/** The page as it stands, light and dark; it is left light. */
export const shootBothThemes = async (page: Page, name: string): Promise<void> => {
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.waitForTimeout(150);
    await shoot(page, `${name}-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
};
