/** `?at=<sequence>`: the run's page as it was after an event of the log (CONSOLE, "see what they saw"). */
import * as Effect from "effect/Effect";
import type { RunMoment } from "#lib/contract/http/run-parts.ts";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { foldMoment, withStoredFacts } from "./fold-moment.ts";
import { readMomentEvents } from "./moment-events.ts";
import { readRunFrame } from "./run-detail.ts";
import { turnsBetween } from "./run-turns.ts";
import { windowCalls, windowOf } from "./run-window.ts";
import { inSnapshot } from "./snapshot.ts";

/** @param most calls of the newest turns that come with it; the newest turn always comes whole */
export const readRunMoment = Effect.fn("views.readRunMoment")(function* (
  tenantId: TenantId,
  runId: RunId,
  sequence: number,
  most = windowCalls,
) {
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const today = yield* readRunFrame(tenantId, runId);
      const { before, events, last, next, previous } = yield* readMomentEvents(
        tenantId,
        today,
        sequence,
        most,
      );
      const folded = foldMoment(today, events, before);
      const { firstTurn } = windowOf(
        [
          // Whatever is not among the events does not fit either.
          ...(before.turns === 0 ? [] : [{ turn: before.newest, calls: most + 1, sequence: 0 }]),
          ...folded.turnViews.map(({ turn, calls }) => ({
            turn,
            calls: calls.length,
            sequence: 0,
          })),
        ],
        most,
      );
      const turns = yield* turnsBetween(tenantId, runId, firstTurn, folded.turns);
      return {
        run: { ...withStoredFacts(folded, turns, today, before), asOf: last.sequence },
        sequence: last.sequence,
        kind: last.event._tag,
        at: last.at,
        previous,
        next,
      } satisfies RunMoment;
    }),
  );
});
