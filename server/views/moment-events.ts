/**
 * The events that a run's past is folded from: all of its newest turns up to then, and of what came before
 * only those that tell of the run as a whole. Turns that had ended before then, and their calls, are counted
 * from their rows: a turn begins when every call of the one before it has ended.
 */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { InvalidInput, NotFound } from "#lib/contract/errors.ts";
import { type LoggedEvent, ReadableEvent, type RunEventKind } from "#lib/contract/events.ts";
import { momentEvents } from "#lib/contract/http/run-parts.ts";
import { EpochMillis, Sequence, type TenantId } from "#lib/contract/ids.ts";
import { millis } from "./columns.ts";
import { noTurnsBefore, TurnsBefore } from "./fold-moment.ts";
import type { RunRow } from "./run-rows.ts";
import { decodeRows } from "./snapshot.ts";

/** Events that are read at once. */
const pageSize = 1_000;

/**
 * What an event of each kind changes of a run's page (`lib/client/apply-run-event.ts`): the run as a whole,
 * too; its turns and calls alone; or nothing that a past shows.
 */
const changes: Readonly<Record<RunEventKind, "run" | "calls" | "nothing">> = {
  RunQueued: "run",
  RunStarted: "run",
  AttemptStarted: "run",
  AttemptPutOff: "nothing",
  RunWoken: "nothing",
  ModelRequested: "nothing",
  ModelText: "nothing",
  TurnRecorded: "calls",
  ToolCallDeclared: "calls",
  ToolCallStarted: "calls",
  StepRecorded: "calls",
  ToolProgress: "nothing",
  ToolCallSucceeded: "calls",
  ToolCallFailed: "calls",
  ToolCallDenied: "calls",
  ToolCallNotExecuted: "calls",
  ToolCallUnknown: "run",
  UnknownProbed: "nothing",
  UnknownResolved: "run",
  ApprovalRequested: "run",
  ApprovalDecided: "run",
  ApprovalCounted: "nothing",
  ApprovalLookedAt: "nothing",
  ApprovalExtended: "nothing",
  ApprovalDelivered: "nothing",
  AuthorizationCheckFailed: "calls",
  DenialAcknowledged: "nothing",
  AbortRequested: "run",
  RunSuspended: "run",
  RunCompleted: "run",
  RunFailed: "run",
  RunAborted: "run",
  RunInterrupted: "nothing",
  UnknownEvent: "nothing",
};
const kindsThatChange = (what: "run" | "nothing"): ReadonlyArray<string> =>
  Object.entries(changes).flatMap(([kind, of]) => (of === what ? [kind] : []));

const EventRow = Schema.Struct({
  sequence: Sequence,
  at: EpochMillis,
  kind: Schema.String,
  body: Schema.String,
});

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(ReadableEvent));

const Place = Schema.Struct({
  first: Schema.NullOr(Schema.String),
  next: Schema.NullOr(Sequence),
});

const tooMany = (sequence: number) =>
  new InvalidInput({
    message: `Up to event ${sequence} this run has more events than a look at its past goes through. Its records are all there.`,
    path: "params.sequence",
    limit: `${momentEvents} events of the run`,
    seen: `more than ${momentEvents}`,
  });

/** The event that was asked for, or the newest before it, and its neighbours. Call it inside `inSnapshot`. */
export const readMomentEvents = Effect.fnUntraced(function* (
  tenantId: TenantId,
  { agentId, runId, threadId }: Pick<RunRow, "runId" | "threadId" | "agentId">,
  sequence: number,
  most: number,
) {
  const sql = yield* SqlClient;
  const ofRun = sql`FROM events e WHERE e.tenant_id = ${tenantId} AND e.run_id = ${runId}`;
  const columns = sql.literal(
    `e.sequence::float8 AS sequence, ${millis("e.at")} AS at, e.kind, e.body`,
  );
  const logged = (row: typeof EventRow.Type): LoggedEvent => ({
    version: 1,
    sequence: row.sequence,
    tenantId,
    at: row.at,
    agentId,
    threadId,
    runId,
    // A kind or shape of a later version changes nothing here.
    event: Option.getOrElse(decodeEvent(row.body), () => ({
      _tag: "UnknownEvent" as const,
      kind: row.kind,
    })),
  });

  const [last, previous] = yield* decodeRows(EventRow)(sql`
    SELECT ${columns} ${ofRun} AND e.sequence <= ${sequence}::float8::bigint
    ORDER BY e.sequence DESC LIMIT 2`);
  if (last === undefined)
    return yield* new NotFound({
      message: `Nothing of this run had happened up to event ${sequence}: it begins later.`,
      what: "moment of this run",
    });
  const [place] = yield* decodeRows(Place)(sql`
    SELECT (SELECT e.kind ${ofRun} ORDER BY e.sequence LIMIT 1) AS first,
      (SELECT e.sequence::float8 ${ofRun} AND e.sequence > ${sequence}::float8::bigint
        ORDER BY e.sequence LIMIT 1) AS next`);
  if (place?.first !== "RunQueued") {
    return yield* new InvalidInput({
      message:
        "The first events of this run are not kept any more, so its past cannot be rebuilt. Its records are all there.",
      path: "params.sequence",
    });
  }

  /** From the newest back, until the turns that are shown are there, and the one before them that is not. */
  const newestFirst: Array<LoggedEvent> = [];
  let firstTurn: number | undefined;
  let below = last.sequence + 1;
  let calls = 0;
  let callsOfTurn = 0;
  for (let isMore = true; isMore && firstTurn === undefined;) {
    const page = yield* decodeRows(EventRow)(sql`
      SELECT ${columns} ${ofRun} AND e.sequence < ${below}::float8::bigint
        AND e.kind NOT IN ${sql.in(kindsThatChange("nothing"))}
      ORDER BY e.sequence DESC LIMIT ${pageSize}`);
    isMore = page.length === pageSize;
    for (const row of page) {
      const one = logged(row);
      newestFirst.push(one);
      below = row.sequence;
      if (one.event._tag === "ToolCallDeclared" && one.event.parentCallId === undefined)
        callsOfTurn += 1;
      if (one.event._tag !== "TurnRecorded") continue;
      calls += Math.max(1, callsOfTurn);
      callsOfTurn = 0;
      if (calls <= most) continue;
      firstTurn = one.event.turn;
      break;
    }
    if (newestFirst.length > momentEvents) return yield* tooMany(sequence);
  }

  let before = noTurnsBefore;
  let early: ReadonlyArray<LoggedEvent> = [];
  if (firstTurn !== undefined) {
    const [found] = yield* decodeRows(TurnsBefore)(sql`
      SELECT count(*)::int4 AS turns, coalesce(max(turn), 0) AS newest,
        coalesce(sum(call_count), 0)::int4 AS calls,
        coalesce(sum(input_tokens), 0)::float8 AS "inputTokens",
        coalesce(sum(output_tokens), 0)::float8 AS "outputTokens"
      FROM turns WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND turn < ${firstTurn}`);
    before = found ?? noTurnsBefore;
    const rows = yield* decodeRows(EventRow)(sql`
      SELECT ${columns} ${ofRun} AND e.sequence < ${below}::float8::bigint
        AND e.kind IN ${sql.in(kindsThatChange("run"))}
      ORDER BY e.sequence LIMIT ${momentEvents + 1}`);
    if (rows.length > momentEvents) return yield* tooMany(sequence);
    early = rows.map(logged);
  }
  return {
    before,
    /** In their order. */
    events: [...early, ...newestFirst.toReversed()],
    last: logged(last),
    previous: previous?.sequence ?? null,
    next: place.next,
  };
});
