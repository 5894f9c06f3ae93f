import { existsSync } from "node:fs";
import path from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { acceptedArguments, type Case, categories, readCases } from "../../bench/bfcl/cases.ts";
import { type CallReport, replayCase } from "../../bench/bfcl/replay.ts";

const data = process.env["BFCL"] ?? path.resolve("../shared/data/bfcl");
const reasonOf = (report: CallReport | undefined) =>
  report?._tag === "refused" ? report.reason : undefined;

/** A case of our own in BFCL's form: a dotted name, Python's type names, an optional argument. */
const ours = (parameters: Readonly<Record<string, unknown>>): Case => ({
  id: "ours",
  functions: [
    {
      name: "math.power",
      description: "Raises a number to a power.",
      parameters: {
        type: "dict",
        properties: {
          base: { type: "float" },
          exponents: { type: "tuple", items: { type: "integer" } },
          context: { type: "dict", properties: { label: { type: "string" } } },
          anything: { type: "any" },
          modulus: { type: "integer", default: "None" },
        },
        required: ["base", "exponents"],
      },
    },
  ],
  calls: [{ name: "math.power", parameters }],
});

describe("BFCL cases through the runtime", () => {
  it("take the first accepted value that is given, inside objects too, and leave out what may only be left out", () => {
    const chosen = acceptedArguments({
      size: ["", "large"],
      note: [""],
      many: [[3, 5]],
      nested: [{ inner: ["", 1], gone: [""] }],
    });
    assert.deepStrictEqual(chosen, { size: "large", many: [3, 5], nested: { inner: 1 } });
  });

  it.effect(
    "[B-02] a dotted name and Python's type names make tools whose handlers get the very arguments",
    () =>
      Effect.gen(function* () {
        const full = {
          base: 2.5,
          exponents: [1, 2],
          context: { label: "a" },
          anything: [null, {}],
        };
        const plain: CallReport = { _tag: "accepted", nullsAbsent: false };
        assert.deepStrictEqual(yield* replayCase(ours(full)), [plain]);
        assert.deepStrictEqual(yield* replayCase(ours({ ...full, modulus: null })), [
          { _tag: "accepted", nullsAbsent: true },
        ]);
      }),
  );

  it.effect(
    "[F-06] what the published schema refuses is refused with the path, and no handler gets it",
    () =>
      Effect.gen(function* () {
        const wrong = { base: "2", exponents: [1, 2] };
        const [text] = yield* replayCase(ours(wrong));
        assert.match(reasonOf(text) ?? "", /Expected number.*\["base"\]/);
        const [unlisted] = yield* replayCase(ours({ base: 2, exponents: [1], other: 1 }));
        assert.match(reasonOf(unlisted) ?? "", /excess property.*\["other"\]/);
        const [missing] = yield* replayCase(ours({ base: 2 }));
        assert.match(reasonOf(missing) ?? "", /\["exponents"\]/);
      }),
  );
});

/** Calls of the sample that contradict their own published schema. */
const contradictions = ["parallel_multiple_12", "live_parallel_multiple_21-18-0"];

describe.runIf(existsSync(data))("a sample of the published cases", () => {
  for (const category of categories) {
    it.effect(
      `[B-02][F-06] ${category}: every call reaches its handler unchanged, or contradicts its own schema`,
      () =>
        Effect.gen(function* () {
          const sample = readCases(data, category).filter(
            ({ id }, index) => index % 10 === 0 || contradictions.includes(id),
          );
          for (const one of sample) {
            const tags = (yield* replayCase(one)).map(({ _tag }) => _tag);
            const allowed = contradictions.includes(one.id)
              ? ["accepted", "refused"]
              : ["accepted"];
            assert.deepStrictEqual([...new Set(tags)].toSorted(), allowed, one.id);
          }
          assert.isAtLeast(sample.length, 3);
        }),
    );
  }
});
