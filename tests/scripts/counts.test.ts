import { describe, expect, it } from "vitest";
import { countPlaywright, countVitest, unprovenRules } from "../../scripts/lib/counts.mjs";

const file = (status: string, ...tests: ReadonlyArray<readonly [string, string]>) => ({
  status,
  assertionResults: tests.map(([fullName, outcome]) => ({ fullName, status: outcome })),
});

describe("the sum of all runners", () => {
  it("counts a test file that did not load as one failed", () => {
    const report = {
      numPassedTests: 1,
      numFailedTests: 0,
      testResults: [file("passed", ["a", "passed"]), file("failed")],
    };
    expect(countVitest(report, 1)).toEqual({ passed: 1, failed: 1, names: ["a"] });
  });

  it("counts a runner that wrote no report, or that failed for no reason it names, as one failed", () => {
    expect(countVitest(undefined, 0).failed).toBe(1);
    expect(countVitest({ numPassedTests: 0, numFailedTests: 0, testResults: [] }, 137).failed).toBe(
      1,
    );
    expect(countPlaywright(undefined, 1).failed).toBe(1);
    expect(
      countPlaywright(
        { stats: { expected: 2, flaky: 0, unexpected: 0 }, suites: [], errors: [{}] },
        1,
      ).failed,
    ).toBe(1);
  });

  it("takes the names of passed browser tests through their suites, and not of skipped ones", () => {
    const spec = (title: string, status: string) => ({ title, ok: true, tests: [{ status }] });
    const suites = [
      {
        title: "f",
        specs: [spec("one", "expected")],
        suites: [{ title: "queue", specs: [spec("two", "expected"), spec("three", "skipped")] }],
      },
    ];
    expect(
      countPlaywright({ stats: { expected: 2, flaky: 0, unexpected: 0 }, suites }, 0).names,
    ).toEqual(["one", "queue two"]);
  });

  it("takes a rule as proven only by a test that passed", () => {
    const rules = ["Q-01", "Q-02", "Q-03"].map((id) => ({
      id,
      when: "CORE" as const,
      promise: "",
    }));
    const report = {
      numPassedTests: 1,
      numFailedTests: 1,
      testResults: [file("failed", [`${"["}Q-01] a`, "passed"], [`${"["}Q-02] b`, "failed"])],
    };
    expect(unprovenRules(rules, ["Q-03"], countVitest(report, 1).names)).toEqual(["Q-02"]);
  });
});
