import type { NextConfig } from "next";

/**
 * The console is served by our own HTTP server, which hands every request outside `/api/` to Next.
 * Types are checked by `npm run check:types` for the whole package, never a second time here:
 * Next would rewrite tsconfig.json, so it gets a file of its own to look at.
 */
const config: NextConfig = {
  // A second build (a test, a screenshot run) must not overwrite the one a server is reading.
  distDir: process.env["CONSOLE_BUILD_FOLDER"] ?? ".next",
  poweredByHeader: false,
  devIndicators: false,
  reactStrictMode: true,
  turbopack: { root: import.meta.dirname },
  typescript: { ignoreBuildErrors: true, tsconfigPath: "tsconfig.next.json" },
  experimental: { useTypeScriptCli: true },
};

export default config;
