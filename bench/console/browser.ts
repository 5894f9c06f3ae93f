/** A Chromium that is signed in, and what the bench asks of a page. */
import { existsSync } from "node:fs";
import { chromium, type Page } from "@playwright/test";
import { signInCookieName } from "#lib/contract/http/authentication.ts";
import type { Product } from "./product.ts";

const places = [process.env["CHROMIUM_PATH"] ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"];

export const openBrowser = async (product: Product, secret: string) => {
  const executablePath = places.find((place) => place !== "" && existsSync(place));
  const browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--js-flags=--expose-gc",
      "--enable-precise-memory-info",
    ],
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addCookies([{ name: signInCookieName, value: secret, url: product.origin }]);
  // Every task that kept the main thread for more than 50 ms, from the first on.
  await context.addInitScript(() => {
    const tasks: Array<number> = [];
    Object.assign(window, { tasks });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(entry.duration);
    }).observe({ type: "longtask", buffered: true });
  });
  return {
    page: async (path: string): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(`${product.origin}${path}`, { waitUntil: "commit" });
      return page;
    },
    close: () => browser.close(),
  };
};

/** The longest task of the main thread since the last time this was asked, milliseconds. */
export const longestTask = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { tasks } = window as unknown as { tasks: Array<number> };
    return Math.max(0, ...tasks.splice(0));
  });

/** Bytes of the page's JavaScript heap after a collection. */
export const heapMegabytes = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1024 / 1024;
};
