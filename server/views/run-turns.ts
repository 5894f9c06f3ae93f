/** The parts of a run that come when they are looked at: older turns, one whole value. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { type CallBody, type RunTurns, turnsPerRead } from "#lib/contract/http/run-parts.ts";
import { type RunId, type TenantId, ThreadId, type ToolCallId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { sha256Hex } from "#lib/contract/json/digest.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import type { KeptResult, RunRecord } from "#lib/contract/records.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { turnViews } from "./assemble-run.ts";
import { requireRun } from "./require-run.ts";
import { readCalls, readTurnRecords } from "./run-rows.ts";
import { readRecordInParts } from "./shown-records.ts";
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

const BodyPlace = Schema.Struct({ threadId: ThreadId, sequence: Schema.NullOr(Schema.Int) });

/** Where the record of a call holds one of its values, and that value, which may be cut. */
const valueOf = (
  record: RunRecord,
  callId: ToolCallId,
  body: Exclude<CallBody, "wholeResult">,
): readonly [value: Json | undefined, path: ReadonlyArray<string | number>] => {
  if (body === "result")
    return [record._tag === "ToolCallSettled" ? record.result : undefined, ["result"]];
  if (record._tag === "InnerCallDeclared") return [record.declared[body], ["declared", body]];
  const calls = record._tag === "TurnRecorded" ? record.calls : [];
  const index = calls.findIndex((call) => call.callId === callId);
  return [calls[index]?.[body], ["calls", index, body]];
};

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
      const [row] = yield* decodeRows(BodyPlace)(sql`
        SELECT t.thread_id AS "threadId", ${place}::float8 AS sequence FROM tool_calls t
        WHERE t.tenant_id = ${tenantId} AND t.run_id = ${runId} AND t.turn = ${turn} AND t.call_id = ${callId}`);
      const { sequence, threadId } = row ?? {};
      const found =
        threadId === undefined || typeof sequence !== "number"
          ? undefined
          : yield* readRecordInParts(tenantId, { sequence, threadId });
      if (found === undefined) return yield* notFound("value of this call");
      const { record, textAt } = found;
      const kept = record._tag === "ToolCallSettled" ? record.kept : undefined;
      if (record._tag === "ToolCallSettled" && body === "wholeResult" && kept !== undefined) {
        const text = yield* readKept(tenantId, runId, kept);
        return { text, isPart: kept.bytes < record.originalBytes };
      }
      const [value, path] = valueOf(record, callId, body === "wholeResult" ? "result" : body);
      return value === undefined
        ? yield* notFound("value of this call")
        : { text: textAt(path) ?? canonicalJson(value), isPart: false };
    }),
  );
});
