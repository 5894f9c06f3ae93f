/** The parts of a run that come when they are looked at: older turns, the times of all, one whole value. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import {
  type CallBody,
  type RunTimes,
  type RunTurns,
  timelineCalls,
  TurnTimes,
  turnsPerRead,
} from "#lib/contract/http/run-parts.ts";
import type { RunId, TenantId, ToolCallId } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { sha256Hex } from "#lib/contract/json/digest.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { type KeptResult, RunRecord } from "#lib/contract/records.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { turnViews } from "./assemble-run.ts";
import { millis } from "./columns.ts";
import { requireRun } from "./require-run.ts";
import { readCalls, readTurnRecords } from "./run-rows.ts";
import { decodeRows, inSnapshot, newest } from "./snapshot.ts";

const Bounds = Schema.Struct({ turn: Schema.Int, sequence: Schema.Int });

/** The turns from `first` to `last`, both included, inside the caller's snapshot. */
export const turnsBetween = Effect.fnUntraced(function* (
  tenantId: TenantId,
  runId: RunId,
  first: number,
  last: number,
) {
  const sql = yield* SqlClient;
  // One more than is shown: where its record stands, the last turn's results have ended.
  const bounds = yield* decodeRows(Bounds)(sql`
    SELECT turn, record_sequence::float8 AS sequence FROM turns
    WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND turn BETWEEN ${first} AND ${last + 1}
    ORDER BY turn`);
  const from = bounds[0];
  if (from === undefined || from.turn > last) return [];
  const end = bounds.find(({ turn }) => turn > last)?.sequence ?? Number.MAX_SAFE_INTEGER;
  const calls = yield* readCalls(tenantId, runId, first, last);
  return turnViews(yield* readTurnRecords(tenantId, runId, from.sequence, end), calls);
});

/** The turns from `first` to `last`, both included. */
export const readTurnRange = (tenantId: TenantId, runId: RunId, first: number, last: number) =>
  inSnapshot(tenantId, turnsBetween(tenantId, runId, first, last));

/** Ten turns from `first` on, in order; fewer at the end. */
export const readRunTurns = Effect.fn("views.readRunTurns")(function* (
  tenantId: TenantId,
  runId: RunId,
  first: number,
) {
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      yield* requireRun(tenantId, runId);
      const { last: asOf } = yield* newest(tenantId);
      const items = yield* turnsBetween(tenantId, runId, first, first + turnsPerRead - 1);
      return { items, asOf } satisfies RunTurns;
    }),
  );
});

const Times = Schema.Struct({
  ...TurnTimes.fields,
  calls: Schema.fromJsonString(TurnTimes.fields.calls),
  inner: Schema.NullOr(Schema.fromJsonString(TurnTimes.fields.inner.schema)),
});
const Left = Schema.Struct({ left: Schema.Int });

/** Times of the turns before `before`, the newest of them when they have more calls than one answer holds. */
export const readRunTimes = Effect.fn("views.readRunTimes")(function* (
  tenantId: TenantId,
  runId: RunId,
  before: number,
) {
  const sql = yield* SqlClient;
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      yield* requireRun(tenantId, runId);
      const { last: asOf } = yield* newest(tenantId);
      const shown = sql`
        SELECT turn, started_at, recorded_at, call_count,
          sum(call_count) OVER (ORDER BY turn DESC) AS so_far
        FROM turns WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND turn < ${before}`;
      const times = sql.literal(`'callId', t.call_id, 'toolName', t.tool_name, 'state', t.state,
        'declaredAt', ${millis("t.declared_at")}, 'requestedAt', ${millis("t.requested_at")},
        'decidedAt', ${millis("t.decided_at")}, 'startedAt', ${millis("t.started_at")},
        'endedAt', ${millis("t.ended_at")}`);
      const ofTurn = sql`t.tenant_id = ${tenantId} AND t.run_id = ${runId} AND t.turn = s.turn`;
      const rows = yield* decodeRows(Times)(sql`
        SELECT s.turn, ${sql.literal(millis("s.started_at"))} AS "startedAt",
          ${sql.literal(millis("s.recorded_at"))} AS "recordedAt",
          coalesce((SELECT json_agg(json_build_object(${times}) ORDER BY t.call_index)
            FROM tool_calls t WHERE ${ofTurn} AND t.parent_call_id IS NULL), '[]')::text AS calls,
          (SELECT json_agg(json_build_object(${times}, 'parentCallId', t.parent_call_id) ORDER BY t.call_index)
            FROM tool_calls t WHERE ${ofTurn} AND t.parent_call_id IS NOT NULL)::text AS "inner"
        FROM (${shown}) AS s WHERE s.so_far - s.call_count < ${timelineCalls} ORDER BY s.turn`);
      const [rest] = yield* decodeRows(Left)(sql`
        SELECT coalesce(sum(s.call_count), 0)::int4 AS left FROM (${shown}) AS s
        WHERE s.so_far - s.call_count >= ${timelineCalls}`);
      const items = rows.map(({ inner, ...turn }): TurnTimes =>
        inner === null ? turn : { ...turn, inner },
      );
      return { items, left: rest?.left ?? 0, asOf } satisfies RunTimes;
    }),
  );
});

const BodyRow = Schema.Struct({ record: Schema.fromJsonString(RunRecord) });

const KeptRow = Schema.Struct({ body: Schema.String });

/** The text that was kept with a record, when it is still exactly that one. */
const readKept = Effect.fnUntraced(function* (
  tenantId: TenantId,
  runId: RunId,
  { bytes, digest, resultId }: KeptResult,
) {
  const sql = yield* SqlClient;
  const [row] = yield* decodeRows(KeptRow)(sql`
    SELECT body FROM kept_results
    WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND result_id = ${resultId}`);
  return row !== undefined && utf8ByteLength(row.body) === bytes && sha256Hex(row.body) === digest
    ? row.body
    : yield* notFound("text of this result as it was recorded");
});

/** One value of a call as canonical JSON text, however long; `NotFound` when there is none. */
export const readCallBody = Effect.fn("views.readCallBody")(function* (
  tenantId: TenantId,
  runId: RunId,
  turn: number,
  callId: ToolCallId,
  body: CallBody,
) {
  const sql = yield* SqlClient;
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      yield* requireRun(tenantId, runId);
      const isResult = body === "result" || body === "wholeResult";
      const place = sql.literal(isResult ? "t.settled_sequence" : "t.declared_sequence");
      const [row] = yield* decodeRows(BodyRow)(sql`
        SELECT j.body AS record FROM tool_calls t JOIN journal_records j
          ON j.tenant_id = t.tenant_id AND j.thread_id = t.thread_id AND j.sequence = ${place}
        WHERE t.tenant_id = ${tenantId} AND t.run_id = ${runId} AND t.turn = ${turn} AND t.call_id = ${callId}`);
      const record = row?.record;
      const declared =
        record?._tag === "TurnRecorded"
          ? record.calls.find((call) => call.callId === callId)
          : record?._tag === "InnerCallDeclared"
            ? record.declared
            : undefined;
      const settled = record?._tag === "ToolCallSettled" ? record : undefined;
      if (body === "wholeResult" && settled?.kept !== undefined) {
        const text = yield* readKept(tenantId, runId, settled.kept);
        return { text, isPart: settled.kept.bytes < settled.originalBytes };
      }
      const value = isResult ? settled?.result : declared?.[body];
      return value === undefined
        ? yield* notFound("value of this call")
        : { text: canonicalJson(value), isPart: false };
    }),
  );
});
