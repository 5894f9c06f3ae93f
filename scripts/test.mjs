/**
 * `npm test`: the checks, every vitest project and the browser tests, one after the other, so that each has the
 * machine for itself. The last line is the sum: `N passed, N failed`. A runner that breaks counts as one failed.
 * `node scripts/test.mjs e2e` (or `checks`, `unit`, `package`, `pg`, `crash`) runs those parts only.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { checkSteps } from "./check.mjs";
import { ensureChromium } from "./lib/chromium.mjs";
import { countPlaywright, countVitest, unprovenRules } from "./lib/counts.mjs";
import { readPending, readRules } from "./lib/rules.mjs";
import { root, run, runSteps } from "./lib/steps.mjs";

const reports = path.join(root, "test-results");

const readReport = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
};

const vitest = (project) => async () => {
  const file = path.join(reports, `${project}.json`);
  const { code } = await run(
    [
      "vitest",
      "run",
      "--project",
      project,
      "--passWithNoTests",
      "--reporter=dot",
      "--reporter=json",
      `--outputFile.json=${file}`,
    ],
    { show: true, minutes: 40 },
  );
  return countVitest(readReport(file), code);
};

const playwright = async () => {
  const chromium = await ensureChromium((line) => console.log(line));
  if ("missing" in chromium) {
    console.error(chromium.missing);
    return { passed: 0, failed: 1, names: [] };
  }
  const file = path.join(reports, "e2e.json");
  const { code } = await run(["playwright", "test", "--reporter=line,json"], {
    show: true,
    minutes: 40,
    env: { CHROMIUM_PATH: chromium.path, PLAYWRIGHT_JSON_OUTPUT_FILE: file },
  });
  return countPlaywright(readReport(file), code);
};

const checks = async () => {
  const failed = await runSteps(checkSteps, { parallel: 2 });
  return { passed: checkSteps.length - failed.length, failed: failed.length, names: [] };
};

const parts = {
  checks,
  unit: vitest("unit"),
  package: vitest("package"),
  pg: vitest("pg"),
  crash: vitest("crash"),
  e2e: playwright,
};

/** A rule counts as proven when a test that names it has passed in this very run. */
const rulesProven = (names) => {
  const unproven = unprovenRules(readRules(), readPending(), names);
  if (unproven.length > 0)
    console.error(
      `no passed test proves ${unproven.join(", ")} (docs/rules.md, tests/rules-pending.json)`,
    );
  return { passed: unproven.length === 0 ? 1 : 0, failed: unproven.length };
};

const main = async () => {
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  const chosen = process.argv.slice(2);
  const unknown = chosen.filter((name) => !Object.hasOwn(parts, name));
  if (unknown.length > 0) {
    console.error(
      `unknown part ${unknown.join(", ")}: choose from ${Object.keys(parts).join(", ")}`,
    );
    return 1;
  }
  const sum = { passed: 0, failed: 0 };
  const names = [];
  const lines = [];
  const add = (name, counts, seconds) => {
    sum.passed += counts.passed;
    sum.failed += counts.failed;
    lines.push(
      `${name}: ${counts.passed} passed, ${counts.failed} failed, ${seconds.toFixed(0)} s`,
    );
  };
  for (const [name, runPart] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    console.log(`\n== ${name}`);
    const begun = performance.now();
    const counts = await runPart().catch((error) => {
      console.error(error);
      return { passed: 0, failed: 1, names: [] };
    });
    names.push(...counts.names);
    add(name, counts, (performance.now() - begun) / 1000);
  }
  if (chosen.length === 0) add("rules", rulesProven(names), 0);
  console.log(`\n${lines.map((line) => `  ${line}`).join("\n")}\n`);
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
  return sum.failed === 0 && sum.passed > 0 ? 0 : 1;
};

if (process.argv[1] === import.meta.filename && existsSync(root)) process.exitCode = await main();
