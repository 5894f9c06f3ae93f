import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { applyToCounts, applyToRunRow } from "#lib/client/apply-list-event.ts";
import { applyToRun } from "#lib/client/apply-run-event.ts";
import { catchUpRun, isTooOld } from "#lib/client/catch-up.ts";
import { makeRecentEvents } from "#lib/client/recent-events.ts";
import { callKey, freshSnapshot } from "#lib/client/run-snapshot.ts";
import type { LoggedEvent } from "#lib/contract/events.ts";
import type { RunListItem } from "#lib/contract/run-views.ts";
import type { Counts } from "#lib/contract/shell-views.ts";
import { answerAt, eventLog } from "./event-log.ts";

/** A log, and two places in it: where a page loaded, and an earlier one where the stream resumed. */
const journey = eventLog.chain((log) =>
  fc.record({
    log: fc.constant(log),
    loadedAt: fc.integer({ min: 1, max: log.length }),
    resumedFrom: fc.integer({ min: 0, max: log.length }),
    runId: fc.constantFrom("run-1", "run-2"),
  }),
);

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
/** The sequence of an answer says how fresh it is, not what the run is. */
const withoutAsOf = (detail: { readonly asOf: number }): unknown => ({
  ...(plain(detail) as object),
  asOf: 0,
});

describe("apply-event", () => {
  it("[OP-01] [C064] [CM-02] any replay from any cursor ends in the same run as a fresh load", () => {
    fc.assert(
      fc.property(journey, ({ log, loadedAt, resumedFrom, runId }) => {
        const from = Math.min(loadedAt, resumedFrom);
        const replayed = log
          .filter((event) => event.sequence > from)
          .reduce(applyToRun, freshSnapshot(answerAt(log, runId, loadedAt)));
        assert.deepStrictEqual(
          withoutAsOf(replayed.detail),
          withoutAsOf(answerAt(log, runId, log.length)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("[OP-01] [C064] pieces that overlap, as after broken connections, end in the same run too", () => {
    const pieces = fc.array(fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 60 })), { maxLength: 6 });
    fc.assert(
      fc.property(journey, pieces, ({ log, loadedAt, runId }, cuts) => {
        let reached = loadedAt;
        let run = freshSnapshot(answerAt(log, runId, loadedAt));
        // Each connection resumes at or before what is known, and ends anywhere after it.
        for (const [back, on] of [...cuts, [0, log.length] as const]) {
          const from = Math.max(0, reached - back);
          const to = Math.min(log.length, reached + on);
          run = log
            .filter(({ sequence }) => sequence > from && sequence <= to)
            .reduce(applyToRun, run);
          reached = Math.max(reached, to);
        }
        assert.deepStrictEqual(
          withoutAsOf(run.detail),
          withoutAsOf(answerAt(log, runId, log.length)),
        );
      }),
    );
  });

  it("[OP-01] [C080] a run that came without its earlier turns ends as the same run without them", () => {
    fc.assert(
      fc.property(journey, fc.nat({ max: 2 }), ({ log, loadedAt, runId }, left) => {
        const loaded = answerAt(log, runId, loadedAt);
        // What ended before the page was loaded may be left out; its newest turn never is.
        const earlier = Math.max(0, Math.min(left, loaded.turnViews.length - 1));
        const base = { ...loaded, turnViews: loaded.turnViews.slice(earlier) };
        const end = log.reduce(applyToRun, freshSnapshot(base));
        const fresh = answerAt(log, runId, log.length);
        assert.deepStrictEqual(
          withoutAsOf(end.detail),
          withoutAsOf(Object.assign({}, fresh, { turnViews: fresh.turnViews.slice(earlier) })),
        );
      }),
    );
  });

  it("[OP-07] [C071] a row of the run list after any events says what its run says", () => {
    const rowOf = (detail: RunListItem) => ({
      state: detail.state,
      failureTag: detail.failureTag,
      startedAt: detail.startedAt,
      settledAt: detail.settledAt,
    });
    fc.assert(
      fc.property(journey, ({ log, loadedAt, runId }) => {
        const row = log
          .filter(({ sequence }) => sequence > loadedAt)
          .reduce(applyToRunRow, answerAt(log, runId, loadedAt) as RunListItem);
        assert.deepStrictEqual(rowOf(row), rowOf(answerAt(log, runId, log.length)));
      }),
    );
  });

  it("[C064] a frame that comes twice changes nothing the second time", () => {
    fc.assert(
      fc.property(eventLog, (log) => {
        const base = freshSnapshot(answerAt(log, "run-1", 1));
        const once = log.reduce(applyToRun, base);
        const twice = log.flatMap((event) => [event, event]).reduce(applyToRun, base);
        assert.deepStrictEqual(plain(twice), plain(once));
      }),
    );
  });

  it("[C070] an answer that was overtaken by events is brought up to date, never taken back", () => {
    fc.assert(
      fc.property(journey, ({ log, loadedAt, runId }) => {
        const recent = makeRecentEvents();
        for (const event of log) recent.keep(event);
        const late = catchUpRun(answerAt(log, runId, loadedAt), undefined, recent);
        assert.deepStrictEqual(
          withoutAsOf(late.detail),
          withoutAsOf(answerAt(log, runId, log.length)),
        );
      }),
    );
  });

  it("[OP-01] preliminary values are kept once each, in order, with what was dropped", () => {
    const progress = (sequence: number, index: number): LoggedEvent =>
      ({
        version: 1,
        sequence,
        at: sequence,
        runId: "run-1",
        event: {
          _tag: "ToolProgress",
          turn: 1,
          callId: "call-0",
          toolName: "a",
          index,
          value: index,
          dropped: 0,
        },
      }) as unknown as LoggedEvent;
    const log = fc.sample(eventLog, { seed: 7, numRuns: 1 })[0] ?? [];
    const start = freshSnapshot({ ...answerAt(log, "run-1", 1), asOf: 0 });
    const many = Array.from({ length: 70 }, (_, index) => progress(index + 1, index)).reduce(
      applyToRun,
      start,
    );
    const kept = many.progress[callKey(1, "call-0")];
    assert.deepStrictEqual(
      kept?.values.map((one) => one.index),
      Array.from({ length: 50 }, (_, at) => at + 20),
    );
    assert.strictEqual(kept?.dropped, 20);
  });

  it("[C071] the badges after any events are what counting the log says", () => {
    fc.assert(
      fc.property(journey, ({ log, loadedAt }) => {
        const countsAt = (sequence: number): Counts => {
          const tags = log.filter((one) => one.sequence <= sequence).map((one) => one.event);
          const of = (tag: string): number => tags.filter((event) => event._tag === tag).length;
          return {
            pendingApprovals: of("ApprovalRequested") - of("ApprovalDecided"),
            openUnknowns: of("ToolCallUnknown") - of("UnknownResolved"),
            openDenials: tags.filter(
              (event) => event._tag === "ToolCallDenied" && event.by === "policy",
            ).length,
            activeRuns: of("RunQueued") - of("RunCompleted") - of("RunFailed") - of("RunAborted"),
            asOf: sequence,
            serverTime: 0,
          };
        };
        assert.deepStrictEqual(log.reduce(applyToCounts, countsAt(loadedAt)), countsAt(log.length));
      }),
    );
  });
});

describe("recent events", () => {
  it("gives exactly the events after a sequence, or says that it cannot", () => {
    fc.assert(
      fc.property(journey, fc.integer({ min: 1, max: 20 }), ({ log, loadedAt }, capacity) => {
        const recent = makeRecentEvents(capacity);
        for (const event of log) recent.keep(event);
        const after = recent.after(loadedAt);
        if (after === undefined) assert.isTrue(log.length - loadedAt > capacity);
        else
          assert.deepStrictEqual(
            after.map((event) => event.sequence),
            log.slice(loadedAt).map((one) => one.sequence),
          );
        assert.strictEqual(isTooOld(loadedAt, recent), after === undefined);
      }),
    );
  });
});
