/** Finds a Chromium for the browser tests, gets one when there is none, or says exactly what to install. */
import { existsSync } from "node:fs";
import { run } from "./steps.mjs";

const systemPlaces = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const ofPlaywright = async () => {
  try {
    const { chromium } = await import("@playwright/test");
    return chromium.executablePath();
  } catch {
    return "";
  }
};

/** @returns {Promise<string | undefined>} */
export const findChromium = async () => {
  const chosen = process.env.CHROMIUM_PATH;
  if (chosen !== undefined && chosen !== "") return existsSync(chosen) ? chosen : undefined;
  return [await ofPlaywright(), ...systemPlaces].find((place) => place !== "" && existsSync(place));
};

const installers = [
  {
    name: "Playwright's installer",
    command: ["timeout", "120", "playwright", "install", "chromium"],
    when: () => true,
  },
  {
    name: "apt-get",
    command: [
      "sh",
      "-c",
      "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium",
    ],
    when: () => process.getuid?.() === 0 && existsSync("/usr/bin/apt-get"),
  },
];

/** @returns {Promise<{ path: string } | { missing: string }>} */
export const ensureChromium = async (say) => {
  const chosen = process.env.CHROMIUM_PATH;
  const found = await findChromium();
  if (found !== undefined) return { path: found };
  if (chosen !== undefined && chosen !== "")
    return { missing: `CHROMIUM_PATH is ${chosen}, where no file is: correct it or unset it.` };
  for (const { name, command, when } of installers) {
    if (!when()) continue;
    say(`no Chromium found, trying ${name}`);
    await run(command);
    const installed = await findChromium();
    if (installed !== undefined) return { path: installed };
  }
  return {
    missing:
      "The browser tests need a Chromium and none could be installed: install one (Debian: apt-get install chromium, macOS: Google Chrome), or set CHROMIUM_PATH to its program.",
  };
};
