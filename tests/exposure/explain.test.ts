import { assert, describe, it } from "@effect/vitest";
import * as Result from "effect/Result";
import { explainExposure } from "#lib/exposure/explain.ts";
import { type ExposureInput, resolveExposure } from "#lib/exposure/resolve-exposure.ts";
import { withdrawnTools } from "#lib/exposure/resume-exposure.ts";
import { finder, pinned, plain, toolRecord } from "./sample-tools.ts";

const tools = toolRecord(pinned("pin"), plain("a"), plain("b"), plain("secret"), finder("find"));
const visible = ["pin", "a", "b", "find"];
const snapshotOf = (input: Omit<ExposureInput, "tools">) =>
  Result.getOrThrow(resolveExposure({ tools, ...input }));
const verdict = (name: string, input: Omit<ExposureInput, "tools">, evidence = {}) =>
  explainExposure(name, snapshotOf(input), evidence).verdict;

describe("explaining exposure", () => {
  it("[OP-02] every name has the reason it was or was not offered for, from the stored snapshot alone", () => {
    const searched = {
      eligible: visible,
      selection: { source: "discovery", toolNames: ["a"] },
    } as const;
    assert.deepStrictEqual(
      ["pin", "a", "find", "b", "secret", "nobody", "toString"].map((name) =>
        verdict(name, searched),
      ),
      [
        "offered",
        "offered",
        "offered",
        "not-discovered",
        "hidden-by-visibility",
        "unregistered",
        "unregistered",
      ],
    );
    assert.strictEqual(
      verdict("b", { selection: { source: "host", toolNames: ["a"] } }),
      "not-selected",
    );
    assert.strictEqual(verdict("b", searched, { omittedForSize: ["b"] }), "over-budget");
    assert.include(explainExposure("a", snapshotOf(searched)).explanation, "selected (discovery)");
    assert.include(explainExposure("pin", snapshotOf(searched)).explanation, "pinned");
  });

  it("[OP-02] a name beyond a shortened list is told apart from an unregistered one by the registered names", () => {
    const large = toolRecord(
      finder("find"),
      ...Array.from({ length: 2_000 }, (_, index) => plain(`tool_${index}`)),
    );
    const snapshot = Result.getOrThrow(resolveExposure({ tools: large }));
    const registered = Object.keys(large);
    assert.strictEqual(
      explainExposure("tool_1999", snapshot, { registered }).verdict,
      "not-discovered",
    );
    assert.strictEqual(
      explainExposure("tool_2000", snapshot, { registered }).verdict,
      "unregistered",
    );
  });
});

describe("resuming with a stored exposure", () => {
  const stored = snapshotOf({ selection: { source: "discovery", toolNames: ["a", "b"] } });

  it("[X-14] an unfinished call runs only when its tool was exposed then and is eligible now", () => {
    assert.deepStrictEqual(Result.getOrThrow(withdrawnTools(stored, undefined, ["a", "b"])), []);
    assert.deepStrictEqual(
      Result.getOrThrow(withdrawnTools(stored, ["a", "find"], ["a", "b", "b"])),
      ["b"],
    );
    assert.deepStrictEqual(Result.getOrThrow(withdrawnTools(stored, undefined, ["secret"])), [
      "secret",
    ]);
  });

  it("[X-14] a filtered run without a stored exposure fails closed; an unfiltered one goes on", () => {
    const result = withdrawnTools(undefined, ["a"], ["a"]);
    assert.strictEqual(Result.isFailure(result) ? result.failure.reason : "", "missing-exposure");
    assert.deepStrictEqual(Result.getOrThrow(withdrawnTools(undefined, undefined, ["a"])), []);
  });
});
