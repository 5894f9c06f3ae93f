/** `npm run check`: everything that needs no database and no browser, in under a minute. Two at a time, all reported. */
import { runSteps } from "./lib/steps.mjs";

export const checkSteps = [
  { name: "format", command: ["oxfmt", "--check", "."], hint: "npm run format" },
  { name: "lint", command: ["oxlint", "--deny-warnings", "."] },
  { name: "types", command: ["tsc", "-p", "."] },
  // Without the types of Node or of the tests, as it is compiled for its users.
  { name: "types of the library alone", command: ["tsc", "-p", "tsconfig.lib.json", "--noEmit"] },
  { name: "unused code", command: ["knip"] },
  { name: "client purity", command: ["node", "scripts/check-client-purity.mjs"] },
  { name: "documentation paths", command: ["node", "scripts/check-docs.mjs"] },
];

if (process.argv[1] === import.meta.filename) {
  const steps = [
    ...checkSteps,
    { name: "unit tests", command: ["vitest", "run", "--project", "unit", "--reporter=dot"] },
  ];
  const failed = await runSteps(steps, { parallel: 2 });
  process.exit(failed.length === 0 ? 0 : 1);
}
