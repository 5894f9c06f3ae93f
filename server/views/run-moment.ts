/** `?at=<sequence>`: the run's page as it was after an event of the log (CONSOLE, "see what they saw"). */
import * as Effect from "effect/Effect";
import { InvalidInput, NotFound } from "#lib/contract/errors.ts";
import type { LoggedEvent } from "#lib/contract/events.ts";
import { momentEvents, type RunMoment } from "#lib/contract/http/run-parts.ts";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { foldMoment, withStoredFacts } from "./fold-moment.ts";
import { readRunDetail } from "./run-detail.ts";
import { readTurnRange } from "./run-turns.ts";
import { windowOf } from "./run-window.ts";
import { orStoreUnavailable } from "./snapshot.ts";

const pageSize = 1_000;

/** Every event of the run up to the sequence, and the one after it. */
const readEvents = Effect.fnUntraced(function* (
  tenantId: TenantId,
  runId: RunId,
  sequence: number,
) {
  const log = yield* EventLog;
  const events: Array<LoggedEvent> = [];
  for (;;) {
    const after = events.at(-1)?.sequence ?? 0;
    const page = yield* log.read({ tenantId, runId, after, limit: pageSize });
    const later = page.find((event) => event.sequence > sequence);
    events.push(...page.filter((event) => event.sequence <= sequence));
    if (later !== undefined || page.length < pageSize)
      return { events, next: later?.sequence ?? null };
    if (events.length >= momentEvents) {
      return yield* new InvalidInput({
        message: `Up to event ${sequence} this run has more events than a look at its past goes through. Its records are all there.`,
        path: "params.sequence",
        limit: `${momentEvents} events of the run`,
        seen: `more than ${events.length}`,
      });
    }
  }
});

export const readRunMoment = Effect.fn("views.readRunMoment")(function* (
  tenantId: TenantId,
  runId: RunId,
  sequence: number,
) {
  const today = yield* readRunDetail(tenantId, runId);
  const { events, next } = yield* orStoreUnavailable(readEvents(tenantId, runId, sequence));
  const last = events.at(-1);
  if (last === undefined)
    return yield* new NotFound({
      message: `Nothing of this run had happened up to event ${sequence}: it begins later.`,
      what: "moment of this run",
    });
  if (events[0]?.event._tag !== "RunQueued") {
    return yield* new InvalidInput({
      message:
        "The first events of this run are not kept any more, so its past cannot be rebuilt. Its records are all there.",
      path: "params.sequence",
    });
  }
  const folded = foldMoment(today, events);
  const { firstTurn } = windowOf(
    folded.turnViews.map(({ turn, calls }) => ({ turn, calls: calls.length, sequence: 0 })),
  );
  const turns = yield* readTurnRange(tenantId, runId, firstTurn, folded.turns);
  return {
    run: withStoredFacts(folded, turns, today),
    sequence: last.sequence,
    kind: last.event._tag,
    at: last.at,
    previous: events.at(-2)?.sequence ?? null,
    next,
  } satisfies RunMoment;
});
