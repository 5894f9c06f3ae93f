/**
 * How far a run's records had come when an event of the log was announced. Records and events are written in one
 * transaction, but an event carries no record's number, so the newest record is looked for that an event up to
 * then tells of; with it stood everything before it and its whole batch. A record that no event tells of (a
 * step, a delivery of nothing) shows with the next one that does.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { InvalidInput } from "#lib/contract/errors.ts";
import { ReadableEvent } from "#lib/contract/events.ts";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { decodeRows } from "./snapshot.ts";

/** Each record of the kind at the right is told of by one event of a kind at the left, in the same order. */
const pairs: ReadonlyArray<readonly [events: string, record: string]> = [
  ["'RunStarted'", "RunOpened"],
  ["'AttemptStarted'", "AttemptStarted"],
  ["'TurnRecorded'", "TurnRecorded"],
  ["'ApprovalRequested'", "ApprovalRequested"],
  ["'ToolCallUnknown'", "ToolCallUnknown"],
  ["'RunSuspended'", "RunSuspended"],
  ["'RunCompleted', 'RunFailed', 'RunAborted'", "RunSettled"],
];

const endings = ["ToolCallSucceeded", "ToolCallFailed", "ToolCallDenied", "ToolCallNotExecuted"];

/** Newest events of calls that are looked at: a batch settles in the order in which it is told. */
const callEvents = 64;

const CallEvent = Schema.Struct({
  kind: Schema.String,
  event: Schema.fromJsonString(Schema.toCodecJson(ReadableEvent)),
});

/** The newest calls that events up to then tell of, as JSON: whether each was seen to end, or only to start. */
const readCalls = (tenantId: TenantId, runId: RunId, sequence: number) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(CallEvent)(sql`
      SELECT e.kind, e.body AS event FROM events e
      WHERE e.tenant_id = ${tenantId} AND e.run_id = ${runId} AND e.sequence <= ${sequence}::float8::bigint
        AND e.kind IN ${sql.in(["ToolCallStarted", ...endings])}
      ORDER BY e.sequence DESC LIMIT ${callEvents}`),
  ).pipe(
    Effect.map((rows) =>
      // Read here: PostgreSQL takes no field out of JSON that has \u0000 in another.
      rows.flatMap(({ event, kind }) =>
        "callId" in event
          ? [{ turn: event.turn, call_id: event.callId, ended: endings.includes(kind) }]
          : [],
      ),
    ),
  );

const Log = Schema.Struct({ isWhole: Schema.Boolean });

/**
 * What happened is counted by the run's events, so all of them must be there: the log is cut at its front, and
 * what an archive brings back has none. Refused as the run's own past is (run-moment.ts). Call it inside `inSnapshot`.
 */
export const requireWholeLog = Effect.fnUntraced(function* (tenantId: TenantId, runId: RunId) {
  const sql = yield* SqlClient;
  const [log] = yield* decodeRows(Log)(sql`
    SELECT EXISTS (
        SELECT FROM (
          SELECT e.kind FROM events e WHERE e.tenant_id = ${tenantId} AND e.run_id = ${runId}
          ORDER BY e.sequence LIMIT 1) AS first
        WHERE first.kind = 'RunQueued')
      -- Not numbered yet: nothing of the run had been told by then.
      OR EXISTS (
        SELECT FROM event_inbox i
        WHERE i.tenant_id = ${tenantId} AND i.run_id = ${runId} AND i.kind = 'RunQueued') AS "isWhole"`);
  if (log?.isWhole !== true)
    return yield* new InvalidInput({
      message:
        "The first events of this run are not kept any more, so its past cannot be rebuilt. Its records are all there.",
      path: "query.at",
    });
});

const Bound = Schema.Struct({ through: Schema.NullOr(Schema.Int) });

/** The last record that stood by then; 0 before the first. Call it inside `inSnapshot`. */
export const recordsThrough = Effect.fnUntraced(function* (
  tenantId: TenantId,
  runId: RunId,
  sequence: number,
) {
  const sql = yield* SqlClient;
  yield* requireWholeLog(tenantId, runId);
  const calls = yield* readCalls(tenantId, runId, sequence);
  const counted = pairs.map(
    ([events, record]) => sql`
      SELECT (SELECT max(j.sequence) FROM (
        SELECT j.sequence FROM journal_records j
        WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId} AND j.kind = ${record}
        ORDER BY j.sequence
        LIMIT (SELECT count(*) FROM told t WHERE ${sql.literal(`t.kind IN (${events})`)})) AS j) AS through`,
  );
  /** Of each kind the first record that no event up to then tells of. */
  const later = pairs.map(
    ([events, record]) => sql`
      (SELECT j.sequence FROM journal_records j
        WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId} AND j.kind = ${record}
        ORDER BY j.sequence
        OFFSET (SELECT count(*) FROM told t WHERE ${sql.literal(`t.kind IN (${events})`)}) LIMIT 1)`,
  );
  const found = yield* decodeRows(Bound)(sql`
    WITH told AS MATERIALIZED (
      SELECT e.kind FROM events e WHERE e.tenant_id = ${tenantId} AND e.run_id = ${runId}
        AND e.sequence <= ${sequence}::float8::bigint AND e.kind NOT IN ('ModelText', 'ToolProgress')
    ), untold AS (
      SELECT min(u.sequence) AS sequence FROM (
        ${later.reduce((before, next) => sql`${before} UNION ALL ${next}`)}) AS u
    ), known AS (
      ${counted.reduce((before, next) => sql`${before} UNION ALL ${next}`)}
      UNION ALL
      SELECT max(c.sequence) FROM (
        SELECT CASE WHEN t.ended THEN c.settled_sequence ELSE c.prepared_sequence END AS sequence
        FROM json_to_recordset(${JSON.stringify(calls)}::json) AS t (turn integer, call_id text, ended boolean)
        JOIN tool_calls c ON c.tenant_id = ${tenantId} AND c.run_id = ${runId}
          AND c.turn = t.turn AND c.call_id = t.call_id) AS c
      -- A call that was made again since has its place behind a record that nothing had told of yet.
      CROSS JOIN untold u WHERE u.sequence IS NULL OR c.sequence < u.sequence
    ), last AS (SELECT max(k.through) AS through FROM known k)
    SELECT (SELECT max(j.sequence)::float8 FROM journal_records j
      WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId} AND j.batch_id = (
        SELECT b.batch_id FROM journal_records b
        WHERE b.tenant_id = ${tenantId} AND b.run_id = ${runId} AND b.sequence = l.through)) AS through
    FROM last l`);
  return found[0]?.through ?? 0;
});
