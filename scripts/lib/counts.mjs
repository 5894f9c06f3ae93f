/** Pure: from the runners' JSON reports to counts and to the names of the tests that passed. */
import { ruleIdsIn } from "./rules.mjs";

const broken = { passed: 0, failed: 1, names: [] };

/** vitest's report and its exit code. A file that did not load is one failed; so is an exit code nothing explains. */
export const countVitest = (report, code) => {
  if (report === undefined) return broken;
  const files = report.testResults;
  const unloaded = files.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  ).length;
  const failed = report.numFailedTests + unloaded;
  const names = files.flatMap((file) =>
    file.assertionResults.filter((test) => test.status === "passed").map((test) => test.fullName),
  );
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed, names };
};

const specsOf = (suite, title = "") => [
  ...(suite.specs ?? []).map((spec) => ({
    name: `${title} ${spec.title}`.trim(),
    ok: spec.ok,
    ran: spec.tests.some((test) => test.status !== "skipped"),
  })),
  ...(suite.suites ?? []).flatMap((inner) => specsOf(inner, `${title} ${inner.title}`.trim())),
];

/** Playwright's report and its exit code. A test that passed only on a retry passed. */
export const countPlaywright = (report, code) => {
  if (report === undefined) return broken;
  const { expected, flaky, unexpected } = report.stats;
  const failed = unexpected + (report.errors?.length ?? 0);
  const names = report.suites
    .flatMap((suite) => specsOf(suite))
    .filter((spec) => spec.ok && spec.ran)
    .map((spec) => spec.name);
  return { passed: expected + flaky, failed: failed === 0 && code !== 0 ? 1 : failed, names };
};

/** The CORE rules that no passed test names and that are not pending. */
export const unprovenRules = (rules, pending, names) => {
  const proven = new Set(names.flatMap(ruleIdsIn));
  return rules
    .filter((rule) => rule.when === "CORE" && !proven.has(rule.id) && !pending.includes(rule.id))
    .map((rule) => rule.id);
};
