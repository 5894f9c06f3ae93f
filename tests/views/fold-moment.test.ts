import fc from "fast-check";
import { assert, describe, it } from "vitest";
import type { LoggedEvent } from "#lib/contract/events.ts";
import { foldMoment, withStoredFacts } from "#server/views/fold-moment.ts";
import { answerAt, eventLog } from "#tests/client/event-log.ts";

/** As they were written before the end of a run told its budget. */
const withoutBudget = (logged: LoggedEvent): LoggedEvent => {
  if (logged.event._tag !== "RunCompleted") return logged;
  const { exhausted: _later, ...event } = logged.event;
  return { ...logged, event };
};

describe("a run as it was after an event", () => {
  it("says which budget ended it once it has ended, also where the event does not", () => {
    let ended = 0;
    fc.assert(
      fc.property(eventLog, (log) => {
        for (const runId of new Set(log.map((logged) => logged.runId))) {
          const events = log.filter((logged) => logged.runId === runId);
          const today = answerAt(log, runId, log.length);
          for (const [place, { sequence }] of events.entries()) {
            const folded = foldMoment(today, events.slice(0, place + 1).map(withoutBudget));
            const { exhausted } = withStoredFacts(folded, today.turnViews, today);
            assert.strictEqual(exhausted, answerAt(log, runId, sequence).exhausted);
            if (exhausted !== null) ended += 1;
          }
        }
      }),
    );
    assert.isAbove(ended, 0);
  });
});
