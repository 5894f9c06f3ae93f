import "./scripts/node20.mjs";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

/** `effect-agent` and its subpaths mean the sources here, never a build that may be stale. */
const conditions = ["effect-agent-source", ...defaultServerConditions];

const needsPostgres = {
  globalSetup: ["tests/support/postgres.global.ts"],
  maxWorkers: 2,
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    testTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          // One module graph for all files: loading Effect again per file was four fifths of the time.
          isolate: false,
          include: ["tests/**/*.test.{ts,tsx}"],
          exclude: ["tests/**/*.{pg,crash,package}.test.ts", "tests/e2e/**"],
        },
      },
      {
        extends: true,
        test: { name: "package", include: ["tests/**/*.package.test.ts"], testTimeout: 180_000 },
      },
      { extends: true, test: { ...needsPostgres, name: "pg", include: ["tests/**/*.pg.test.ts"] } },
      {
        extends: true,
        test: {
          ...needsPostgres,
          name: "crash",
          include: ["tests/**/*.crash.test.ts"],
          fileParallelism: false,
          testTimeout: 180_000,
        },
      },
    ],
  },
});
