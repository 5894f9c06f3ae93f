/** The rows a run's page is made of, read inside one snapshot. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import {
  ApprovalRequestId,
  DiagnosticId,
  Digest,
  EpochMillis,
  ToolCallId,
  UnknownId,
} from "#lib/contract/ids.ts";
import { Actor } from "#lib/contract/records.ts";
import { CallState, ExecutionClass, FailureHandling, FailureMode } from "#lib/contract/status.ts";
import { DoubtView, RunListItem } from "#lib/contract/run-views.ts";
import { withBrokenCall } from "./broken-call.ts";
import { millis, runListColumns } from "./columns.ts";
import { notFound } from "./require-run.ts";
import { decodeShown, shownColumns } from "./shown-records.ts";
import { decodeRows } from "./snapshot.ts";

export const RunRow = Schema.Struct({
  ...RunListItem.fields,
  modelId: Schema.NullOr(Schema.String),
  finishReason: Schema.NullOr(Schema.String),
  exhausted: Schema.NullOr(Schema.String),
  /** Canonical text of the submitted input. */
  input: Schema.fromJsonString(Schema.Json),
});
export type RunRow = typeof RunRow.Type;

export const readRun = (tenantId: TenantId, runId: RunId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(RunRow)(sql`
      SELECT ${sql.literal(runListColumns)}, r.model_id AS "modelId",
        r.finish_reason AS "finishReason", r.exhausted, s.input
      FROM runs r JOIN submissions s
        ON s.tenant_id = r.tenant_id AND s.submission_id = r.submission_id
      WHERE r.tenant_id = ${tenantId} AND r.run_id = ${runId}`);
    return rows[0] ?? (yield* notFound("run"));
  });

const AbortRow = Schema.Struct({
  kind: Actor.fields.kind,
  id: Schema.String,
  name: Schema.String,
  reason: Schema.String,
  at: EpochMillis,
});
export type AbortRow = typeof AbortRow.Type;

export const readAbort = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(AbortRow)(sql`
      SELECT actor_kind AS kind, actor_id AS id, actor_name AS name, reason,
        ${sql.literal(millis("requested_at"))} AS at
      FROM abort_requests WHERE tenant_id = ${tenantId} AND run_id = ${runId}`),
  ).pipe(Effect.map((rows) => rows[0] ?? null));

export const CallRow = Schema.Struct({
  turn: Schema.Int,
  index: Schema.Int,
  callId: ToolCallId,
  parentCallId: Schema.NullOr(ToolCallId),
  toolName: Schema.String,
  state: CallState,
  executionClass: ExecutionClass,
  providerExecuted: Schema.Boolean,
  needsApproval: Schema.Boolean,
  parametersDigest: Digest,
  toolDigest: Digest,
  failureMode: Schema.NullOr(FailureMode),
  failureHandling: Schema.NullOr(FailureHandling),
  failureTag: Schema.NullOr(Schema.String),
  failureMessage: Schema.NullOr(Schema.String),
  diagnosticId: Schema.NullOr(DiagnosticId),
  isFailure: Schema.Boolean,
  /** A record of its own says how it ended. */
  isSettled: Schema.Boolean,
  originalBytes: Schema.NullOr(Schema.Int),
  approvalRequestId: Schema.NullOr(ApprovalRequestId),
  unknownId: Schema.NullOr(UnknownId),
  doubt: Schema.NullOr(DoubtView),
  idempotencyKey: Schema.NullOr(Schema.String),
  declaredAt: EpochMillis,
  requestedAt: Schema.NullOr(EpochMillis),
  decidedAt: Schema.NullOr(EpochMillis),
  startedAt: Schema.NullOr(EpochMillis),
  endedAt: Schema.NullOr(EpochMillis),
});
export type CallRow = typeof CallRow.Type & {
  /** Its handler broke, which only the evidence of the run's end says (`broken-call.ts`). */
  readonly broke?: true;
};

/** What stands of the newest doubt about a call of `tool_calls AS t`; one `json` value. */
const doubtColumn = `
  CASE WHEN t.unknown_id IS NOT NULL THEN (
    SELECT json_build_object('since', ${millis("u.unknown_at")}, 'resolution', u.resolution,
      'actor', CASE WHEN u.resolver_kind IS NOT NULL THEN
        json_build_object('kind', u.resolver_kind, 'id', u.resolver_id, 'name', u.resolver_name) END,
      'resolvedAt', ${millis("u.resolved_at")})
    FROM unknown_outcomes u
    WHERE u.tenant_id = t.tenant_id AND u.unknown_id = t.unknown_id) END`;

/** Columns of `tool_calls AS t`, bodies left in the journal. */
export const callColumns = `
  t.turn, t.call_index AS index, t.call_id AS "callId",
  t.parent_call_id AS "parentCallId", t.tool_name AS "toolName", t.state,
  t.execution_class AS "executionClass", t.provider_executed AS "providerExecuted",
  t.needs_approval AS "needsApproval", t.parameters_digest AS "parametersDigest",
  t.tool_digest AS "toolDigest", t.failure_mode AS "failureMode",
  t.failure_handling AS "failureHandling", t.failure_tag AS "failureTag",
  t.failure_message AS "failureMessage", t.diagnostic_id AS "diagnosticId",
  t.is_failure AS "isFailure", t.settled_sequence IS NOT NULL AS "isSettled", t.original_bytes::float8 AS "originalBytes",
  t.approval_request_id AS "approvalRequestId", t.unknown_id AS "unknownId",
  ${doubtColumn} AS doubt,
  t.idempotency_key AS "idempotencyKey", ${millis("t.declared_at")} AS "declaredAt",
  ${millis("t.requested_at")} AS "requestedAt", ${millis("t.decided_at")} AS "decidedAt",
  ${millis("t.started_at")} AS "startedAt", ${millis("t.ended_at")} AS "endedAt"`;

/** Calls of the turns from `from` to `to`, both included. */
export const readCalls = (tenantId: TenantId, runId: RunId, from: number, to?: number) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(CallRow)(sql`
      SELECT ${sql.literal(callColumns)} FROM tool_calls t
      WHERE t.tenant_id = ${tenantId} AND t.run_id = ${runId} AND t.turn >= ${from}
        ${to === undefined ? sql`` : sql`AND t.turn <= ${to}`}
      ORDER BY t.turn, t.call_index`),
  ).pipe(Effect.flatMap((rows) => withBrokenCall(tenantId, runId, rows)));

/** Kinds of the run as a whole, and of its turns; the others are behind its records. */
const runKinds = ["RunOpened", "AttemptStarted", "RunSuspended", "RunSettled"] as const;
const turnKinds = ["TurnRecorded", "InnerCallDeclared", "StepRecorded", "ToolCallSettled"] as const;

/** Records that a run's page shows: of the run as a whole all, of its turns those from a sequence on. */
export const readShownRecords = (tenantId: TenantId, runId: RunId, turnsFrom: number) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeShown(tenantId)(sql`
      SELECT ${sql.literal(shownColumns)} FROM journal_records j
      WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId}
        AND (j.kind IN ${sql.in(runKinds)} OR (j.kind IN ${sql.in(turnKinds)} AND j.sequence >= ${turnsFrom}::float8::bigint))
      ORDER BY j.sequence`),
  );

/** Records of turns only, from a sequence on and before another. */
export const readTurnRecords = (tenantId: TenantId, runId: RunId, from: number, before: number) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeShown(tenantId)(sql`
      SELECT ${sql.literal(shownColumns)} FROM journal_records j
      WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId} AND j.kind IN ${sql.in(turnKinds)}
        AND j.sequence >= ${from}::float8::bigint AND j.sequence < ${before}::float8::bigint
      ORDER BY j.sequence`),
  );
