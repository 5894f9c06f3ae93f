/**
 * The append that a run of effects makes over and over: a call's success, the promise before the next call, or
 * both (`journal_append_calls` in migrations/0030_call_turnover.sql). Whatever is more or other than that is no
 * turnover and goes the general way.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes";
import type { ChainedRow } from "#lib/durable/chain.ts";
import type { AppendRequest } from "#lib/durable/Journal.ts";
import {
  type Column,
  type ProjectionChanges,
  type Row,
  changesOnlyCalls,
} from "#server/postgres/projection-draft.ts";

/** Every parameter in its place; answers the time of the append, null when nothing was written. */
export const turnoverStatement = `SELECT journal_append_calls($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
  $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24) AS recorded_at`;

interface EventText {
  readonly kind: string;
  readonly body: string;
}

/** The columns that the function writes for each of the two; a change of any other column goes the general way. */
const key = ["turn", "call_id", "state"];
const ofSuccess = new Set([
  ...key,
  "failure_mode",
  "is_failure",
  "original_bytes",
  "settled_sequence",
  "started_ms",
  "ended_ms",
]);
const ofPromise = new Set([...key, "idempotency_key", "attempt", "prepared_sequence"]);

const changesOnly = (row: Row, columns: ReadonlySet<string>): boolean =>
  Object.entries(row).every(([column, value]) => value === undefined || columns.has(column));

const isSuccess = (row: Row, event: EventText): boolean =>
  row["state"] === "succeeded" &&
  row["is_failure"] === false &&
  event.kind === "ToolCallSucceeded" &&
  changesOnly(row, ofSuccess);

const isPromise = (row: Row, event: EventText): boolean =>
  row["state"] === "running" && event.kind === "ToolCallStarted" && changesOnly(row, ofPromise);

const text = (value: Column) => (typeof value === "string" ? PgTypes.text(value) : null);
const int4 = (value: Column) => (typeof value === "number" ? PgTypes.int4(value) : null);
const int8 = (value: Column) => (typeof value === "number" ? PgTypes.int8(BigInt(value)) : null);

interface Part {
  readonly change: Row;
  readonly record: ChainedRow;
  readonly event: EventText;
}

/** A success before a promise, of different calls of one turn; either may be missing. */
const partsOf = (
  changes: ReadonlyArray<Row>,
  records: ReadonlyArray<ChainedRow>,
  events: ReadonlyArray<EventText>,
): { readonly success?: Part | undefined; readonly promise?: Part | undefined } | undefined => {
  const parts = records.flatMap((record, place): ReadonlyArray<Part> => {
    const change = changes[place];
    const event = events[place];
    return change === undefined || event === undefined ? [] : [{ change, record, event }];
  });
  const [first, second] = parts;
  if (first === undefined || parts.length !== records.length) return undefined;
  if (second === undefined) {
    if (isSuccess(first.change, first.event)) return { success: first };
    return isPromise(first.change, first.event) ? { promise: first } : undefined;
  }
  return isSuccess(first.change, first.event) &&
    isPromise(second.change, second.event) &&
    first.change["turn"] === second.change["turn"]
    ? { success: first, promise: second }
    : undefined;
};

/**
 * The parameters of `turnoverStatement`; undefined when the append is no turnover.
 *
 * @param changes of the request's records, merged by call: two records of one call are one change, and no turnover
 * @param events everything that the append tells the console, in order
 */
export const turnoverOf = (
  request: AppendRequest,
  records: ReadonlyArray<ChainedRow>,
  changes: ProjectionChanges | undefined,
  events: ReadonlyArray<EventText>,
): ReadonlyArray<unknown> | undefined => {
  const count = records.length;
  if (
    (count !== 1 && count !== 2) ||
    events.length !== count ||
    request.diagnostics.length > 0 ||
    (request.results?.length ?? 0) > 0 ||
    changes?.call_changes?.length !== count ||
    !changesOnlyCalls(changes)
  ) {
    return undefined;
  }
  const parts = partsOf(changes.call_changes, records, events);
  if (parts === undefined) return undefined;
  const { promise, success } = parts;
  return [
    PgTypes.text(request.tenantId),
    PgTypes.text(request.threadId),
    PgTypes.text(request.runId),
    PgTypes.text(request.agentId),
    PgTypes.int8(BigInt(request.epoch)),
    PgTypes.int8(BigInt(request.expectedTail.sequence)),
    PgTypes.text(request.expectedTail.digest),
    PgTypes.text(request.batchId),
    int4((success ?? promise)?.change["turn"]),
    changes.progressed === true && request.nothingLost !== true,
    text(success?.change["call_id"]),
    text(success?.record.body),
    text(success?.record.digest),
    text(success?.event.body),
    text(success?.change["failure_mode"]),
    int8(success?.change["original_bytes"]),
    int8(success?.change["started_ms"]),
    int8(success?.change["ended_ms"]),
    text(promise?.change["call_id"]),
    text(promise?.record.body),
    text(promise?.record.digest),
    text(promise?.event.body),
    text(promise?.change["idempotency_key"]),
    int4(promise?.change["attempt"]),
  ];
};
