import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

/** `npm test` finds or installs one and says so here; by hand the system's is tried, then Playwright's own. */
const found = [
  process.env["CHROMIUM_PATH"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
].find((place) => place !== "" && existsSync(place));

export default defineConfig({
  testDir: "tests/e2e",
  testMatch: "**/*.e2e.ts",
  outputDir: "test-results/e2e",
  // Two cores, one product and one browser: more workers would measure each other.
  workers: 1,
  fullyParallel: false,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  forbidOnly: process.env["CI"] !== undefined,
  use: {
    browserName: "chromium",
    locale: "en-GB",
    timezoneId: "UTC",
    screenshot: "only-on-failure",
    trace: "retain-on-failure",
    launchOptions: {
      ...(found === undefined ? {} : { executablePath: found }),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
