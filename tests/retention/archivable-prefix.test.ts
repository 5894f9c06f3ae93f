import fc from "fast-check";
import { assert, describe, it } from "vitest";
import { archivablePrefix, type RunSpan } from "#server/retention/archivable-prefix.ts";

const span = (runId: string, first: number, last: number, mayGo = true): RunSpan => ({
  runId,
  first,
  last,
  mayGo,
});

describe("what of a thread may go", () => {
  it("is the runs before the first that must stay", () => {
    const spans = [span("c", 9, 12, false), span("a", 1, 4), span("b", 5, 8)];
    assert.deepStrictEqual(archivablePrefix(spans), { runIds: ["a", "b"], through: 8 });
  });

  it("never cuts through a run that was parked while others passed", () => {
    // b ran inside a's wait; a ends after c has begun, and c must stay.
    const spans = [span("a", 1, 9), span("b", 4, 5), span("c", 8, 12, false)];
    assert.isUndefined(archivablePrefix(spans));
    assert.deepStrictEqual(archivablePrefix([span("a", 1, 9), span("b", 4, 5)]), {
      runIds: ["a", "b"],
      through: 9,
    });
  });

  it("is nothing when the first run must stay", () => {
    assert.isUndefined(archivablePrefix([span("a", 1, 4, false), span("b", 5, 8)]));
    assert.isUndefined(archivablePrefix([]));
  });

  it("is always whole runs that may go, and all records up to its end", () => {
    const spans = fc.array(
      fc.record({
        first: fc.integer({ min: 1, max: 40 }),
        length: fc.integer({ min: 0, max: 12 }),
        mayGo: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(spans, (drawn) => {
        const runs = drawn.map(({ first, length, mayGo }, index) =>
          span(`r${index}`, first, first + length, mayGo),
        );
        const prefix = archivablePrefix(runs);
        if (prefix === undefined) return;
        for (const run of runs) {
          const goes = prefix.runIds.includes(run.runId);
          assert.strictEqual(goes, run.first <= prefix.through, run.runId);
          if (goes) assert.isTrue(run.mayGo && run.last <= prefix.through);
        }
      }),
    );
  });
});
