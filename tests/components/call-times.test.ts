import { assert, describe, it } from "@effect/vitest";
import { callTimes, ranText } from "#components/runs/call-times.ts";
import { callEnd } from "#components/timeline/call-end.ts";

const call = {
  state: "running" as const,
  declaredAt: 1_000,
  requestedAt: null,
  decidedAt: null,
  startedAt: 2_000,
  endedAt: null,
};
const doubt = { since: 5_000, resolution: null, actor: null, resolvedAt: null };

describe("the times of a call", () => {
  it("[C074] of one in doubt stand still from the moment of the doubt, open or answered, and say no more than is known", () => {
    const answered = { ...doubt, resolution: "abort-submission" as const, resolvedAt: 9_000 };
    for (const now of [6_000, 60_000, 86_400_000])
      for (const one of [doubt, answered]) {
        const unknown = { ...call, state: "unknown" as const, doubt: one };
        assert.strictEqual(callEnd(unknown), 5_000);
        const times = callTimes(unknown, now);
        assert.strictEqual(times.ranMillis, 3_000);
        assert.strictEqual(times.open, "none");
        assert.strictEqual(ranText(unknown, times), "ran at most 3.0 s");
      }
  });

  it("of one that runs count on, also when an earlier doubt about it was answered", () => {
    for (const running of [call, { ...call, doubt }]) {
      assert.isNull(callEnd(running));
      const times = callTimes(running, 8_000);
      assert.deepStrictEqual(
        [times.ranMillis, times.open, times.ranAtMost],
        [6_000, "running", false],
      );
    }
  });

  it("[F-03] one that broke did run, though nothing says since when; one that never started did not", () => {
    const ended = { ...call, state: "failed" as const, startedAt: null, endedAt: 4_000 };
    const broke = { ...ended, broke: true as const };
    assert.strictEqual(ranText(broke, callTimes(broke, 9_000)), "broke while it ran");
    assert.strictEqual(ranText(ended, callTimes(ended, 9_000)), "never started");
  });
});
