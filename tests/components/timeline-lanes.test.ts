import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import {
  brushedBar,
  brushOfText,
  brushText,
  clampBrush,
  densityOf,
  lanesOf,
  lanesWithin,
  leastBrush,
  moveBrush,
  reachOf,
  scaleOfLanes,
  type TurnLanes,
  wholeBrush,
  zoomBrush,
} from "#components/timeline/lanes.ts";
import { barOf } from "#components/timeline/positions.ts";
import { ToolCallId } from "#lib/contract/ids.ts";

const end = 2_000_000;

const turns: fc.Arbitrary<ReadonlyArray<TurnLanes>> = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 0, max: 200_000 }),
      model: fc.integer({ min: 0, max: 5_000 }),
      calls: fc.array(
        fc.record({
          queued: fc.integer({ min: 0, max: 2_000 }),
          ran: fc.option(fc.integer({ min: -50, max: 30_000 }), { nil: null }),
        }),
        { maxLength: 4 },
      ),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((plans) => {
    let at = 1_000;
    return plans.map(({ gap, model, calls }, index) => {
      const startedAt = at + gap;
      const recordedAt = startedAt + model;
      at = recordedAt;
      return {
        turn: index + 1,
        startedAt,
        recordedAt,
        calls: calls.map(({ queued, ran }, place) => ({
          callId: ToolCallId.make(`c${place}`),
          toolName: "tool",
          state: ran === null ? ("queued" as const) : ("succeeded" as const),
          declaredAt: recordedAt,
          requestedAt: null,
          decidedAt: null,
          startedAt: ran === null ? null : recordedAt + queued,
          endedAt: ran === null ? null : recordedAt + queued + ran,
        })),
      };
    });
  });

const brush = fc
  .tuple(fc.double({ min: -1, max: 2, noNaN: true }), fc.double({ min: -1, max: 2, noNaN: true }))
  .map(([from, to]) => clampBrush({ from, to }));

describe("timeline lanes", () => {
  it("[C091] every turn and every call has one lane, in order, and the steps and calls of a call stand under it", () => {
    const inner = {
      callId: ToolCallId.make("in"),
      toolName: "tool",
      state: "queued" as const,
      declaredAt: 2,
      requestedAt: null,
      decidedAt: null,
      startedAt: null,
      endedAt: null,
    };
    const outer = { ...inner, callId: ToolCallId.make("out") };
    const lanes = lanesOf([
      {
        turn: 1,
        startedAt: 0,
        recordedAt: 1,
        calls: [outer, { ...outer, callId: ToolCallId.make("next") }],
        inner: [{ ...inner, parentCallId: outer.callId }],
        steps: new Map([
          ["out", [{ name: "reserve", recordedAt: 3 }]],
          ["in", [{ name: "charge", recordedAt: 4 }]],
        ]),
      },
      { turn: 2, startedAt: 5, recordedAt: 6, calls: [] },
    ]);
    assert.deepStrictEqual(
      lanes.map(({ key }) => key),
      ["1", "1/out", "1/out/0", "1/in", "1/in/0", "1/next", "2"],
    );
    assert.isTrue(new Set(lanes.map(({ key }) => key)).size === lanes.length);
  });

  it("a brush keeps its ends inside and in order, and its address gives it back", () => {
    fc.assert(
      fc.property(
        brush,
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        fc.double({ min: -5, max: 5, noNaN: true }),
        (one, factor, share) => {
          for (const made of [one, zoomBrush(one, factor), moveBrush(one, share)]) {
            assert.isAtLeast(made.from, 0);
            assert.isAtMost(made.to, 1 + 1e-9);
            assert.isAtLeast(made.to - made.from, leastBrush - 1e-9);
          }
          const moved = moveBrush(one, share);
          assert.closeTo(moved.to - moved.from, one.to - one.from, 1e-9);
          const read = brushOfText(brushText(one));
          assert.closeTo(read.from, one.from, 1e-3);
          assert.closeTo(read.to, one.to, 1e-3);
        },
      ),
    );
    for (const text of [undefined, "", "7", "a-b", "1-2-3", "9999999-1"])
      assert.deepStrictEqual(brushOfText(text), wholeBrush);
  });

  it("what a brush shows is exactly what overlaps it, moved and stretched but in the same order", () => {
    fc.assert(
      fc.property(turns, brush, (given, shown) => {
        const lanes = lanesOf(given);
        const scale = scaleOfLanes(lanes, 0, end);
        const within = new Set(lanesWithin(lanes, scale, shown, end).map(({ key }) => key));
        for (const lane of lanes) {
          const { from, to } = reachOf(lane, end);
          const bar = barOf(scale, from, to);
          const seen = brushedBar(bar, shown);
          assert.strictEqual(
            seen !== undefined,
            bar.x < shown.to && bar.x + bar.width > shown.from,
          );
          if (seen === undefined) continue;
          assert.isTrue(seen.x >= 0 && seen.x + seen.width <= 1 + 1e-9);
          assert.isTrue(within.has(lane.key));
          if (lane.kind === "call")
            assert.isTrue(within.has(String(lane.turn)), "its turn is the heading");
        }
        if (shown.from <= 0 && shown.to >= 1) assert.strictEqual(within.size, lanes.length);
      }),
    );
  });

  it("the overview is busiest where most overlap, and nowhere busier than 1", () => {
    fc.assert(
      fc.property(turns, fc.integer({ min: 1, max: 60 }), (given, columns) => {
        const lanes = lanesOf(given);
        const scale = scaleOfLanes(lanes, 0, end);
        const density = densityOf(lanes, scale, end, columns);
        assert.strictEqual(density.length, columns);
        assert.closeTo(Math.max(...density), 1, 1e-9);
        assert.isAtLeast(Math.min(...density), 0);
        const total = lanes.reduce((sum, lane) => {
          const { from, to } = reachOf(lane, end);
          const bar = barOf(scale, from, to);
          const first = Math.min(columns - 1, Math.floor(bar.x * columns));
          const last = Math.min(columns - 1, Math.floor((bar.x + bar.width) * columns));
          return sum + last - first + 1;
        }, 0);
        const most = density.reduce((sum, share) => sum + share, 0);
        assert.isAtMost(most, total + 1e-6);
      }),
    );
  });

  it("16,500 calls have their lanes, and a narrow brush shows one turn of them", () => {
    const many = Array.from({ length: 330 }, (_, index): TurnLanes => ({
      turn: index + 1,
      startedAt: index * 60_000,
      recordedAt: index * 60_000 + 900,
      calls: Array.from({ length: 50 }, (_none, place) => ({
        callId: ToolCallId.make(`c${place}`),
        toolName: "tool",
        state: "succeeded" as const,
        declaredAt: index * 60_000 + 900,
        requestedAt: null,
        decidedAt: null,
        startedAt: index * 60_000 + 1_000,
        endedAt: index * 60_000 + 1_500 + place,
      })),
    }));
    const lanes = lanesOf(many);
    const scale = scaleOfLanes(lanes, 0, 330 * 60_000);
    assert.strictEqual(lanes.length, 330 * 51);
    assert.strictEqual(scale.folds.length, 0, "no gap is longer than a quarter of all the work");
    assert.strictEqual(lanesWithin(lanes, scale, { from: 0.5, to: 0.503 }, 1).length, 51);
  });
});
