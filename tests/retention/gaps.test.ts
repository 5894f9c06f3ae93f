import fc from "fast-check";
import { assert, describe, it } from "vitest";
import type { ChainGap } from "#lib/durable/verify-thread.ts";
import { withGaps, withoutRange } from "#server/retention/gaps.ts";

const place = (sequence: number) => ({ sequence, digest: `digest-${sequence}` });
const gap = (after: number, through: number): ChainGap => ({
  after: place(after),
  through: place(through),
});

/** Which records the gaps say are gone. */
const recordsOf = (gaps: ReadonlyArray<ChainGap>): ReadonlyArray<number> =>
  gaps.flatMap(({ after, through }) =>
    Array.from(
      { length: through.sequence - after.sequence },
      (_, place) => after.sequence + 1 + place,
    ),
  );

describe("gaps of a journal", () => {
  it("that touch are one, and those that do not stay apart", () => {
    assert.deepStrictEqual(withGaps([gap(0, 3), gap(10, 12)], [gap(3, 5)]), [
      gap(0, 5),
      gap(10, 12),
    ]);
    assert.deepStrictEqual(
      withGaps([gap(0, 3)], [{ ...gap(3, 5), after: { sequence: 3, digest: "x" } }]).length,
      2,
    );
  });

  it("are not opened for records that stand there, nor for another chain", () => {
    assert.isUndefined(withoutRange([gap(0, 3)], gap(3, 5)));
    assert.isUndefined(withoutRange([gap(0, 3)], gap(2, 4)));
    assert.isUndefined(
      withoutRange([gap(0, 3)], { ...gap(1, 3), through: { sequence: 3, digest: "other" } }),
    );
    assert.isUndefined(
      withoutRange([gap(2, 5)], { ...gap(2, 4), after: { sequence: 2, digest: "other" } }),
    );
  });

  it("are after any order of taking out and bringing back exactly where records are gone (2,000 plans)", () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { minLength: 2, maxLength: 12 });
    const plan = fc.tuple(cuts, fc.array(fc.nat(), { maxLength: 40 }));
    fc.assert(
      fc.property(plan, ([places, steps]) => {
        const ordered = places.toSorted((a, b) => a - b);
        const ranges = ordered.slice(1).map((through, at) => gap(ordered[at] ?? 0, through));
        let gaps: ReadonlyArray<ChainGap> = [];
        const gone = new Set<ChainGap>();
        for (const step of steps) {
          const range = ranges[step % ranges.length];
          if (range === undefined) continue;
          if (gone.delete(range)) {
            const left = withoutRange(gaps, range);
            assert.isDefined(left);
            gaps = left ?? gaps;
          } else {
            gaps = withGaps(gaps, [range]);
            gone.add(range);
          }
          const expected = [...gone].flatMap((one) => recordsOf([one])).toSorted((a, b) => a - b);
          assert.deepStrictEqual(recordsOf(gaps), expected);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
