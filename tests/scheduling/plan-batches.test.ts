import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { planBatches } from "#lib/scheduling/plan-batches.ts";

const names = (calls: ReadonlyArray<string>, recorded: ReadonlyArray<string> = []) =>
  planBatches(
    calls,
    (call) => call.startsWith("M"),
    (call) => recorded.includes(call),
  ).map((segment) => segment.calls.map(({ call }) => call));

describe("planBatches", () => {
  it("[S-02] a barrier stands alone and its neighbours stay together on their own side", () => {
    assert.deepStrictEqual(names(["r1", "r2", "M", "r3", "r4"]), [
      ["r1", "r2"],
      ["M"],
      ["r3", "r4"],
    ]);
    assert.deepStrictEqual(names(["M1", "M2", "r"]), [["M1"], ["M2"], ["r"]]);
    assert.deepStrictEqual(names([]), []);
  });

  it("[S-05] a resumed batch keeps its barriers, also one that is already recorded", () => {
    assert.deepStrictEqual(names(["r1", "M", "r2"], ["r1"]), [["M"], ["r2"]]);
    assert.deepStrictEqual(names(["r1", "M", "r2", "r3"], ["M", "r3"]), [["r1"], ["r2"]]);
    assert.deepStrictEqual(names(["r1", "M"], ["r1", "M"]), []);
  });

  it("[S-02] every call is planned once, in declaration order, and no two sides of a barrier share a segment", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ barrier: fc.boolean(), recorded: fc.boolean() })),
        (calls) => {
          const segments = planBatches(
            calls,
            (call) => call.barrier,
            (call) => call.recorded,
          );
          const planned = segments.flatMap((segment) => segment.calls.map(({ index }) => index));
          assert.deepStrictEqual(
            planned,
            calls.flatMap((call, index) => (call.recorded ? [] : [index])),
          );
          for (const segment of segments) {
            const first = segment.calls[0]?.index ?? 0;
            const last = segment.calls.at(-1)?.index ?? 0;
            const barriersWithin = calls
              .slice(first, last + 1)
              .filter((call) => call.barrier).length;
            assert.strictEqual(barriersWithin, segment._tag === "barrier" ? 1 : 0);
          }
        },
      ),
    );
  });
});
