/** The rows of one approval's page, read inside one snapshot. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { ApprovalRequestContent } from "#lib/contract/approval.ts";
import { type ApprovalRequestId, Digest, EpochMillis, type TenantId } from "#lib/contract/ids.ts";
import { Actor } from "#lib/contract/records.ts";
import { ApprovalListItem, ApprovalLooker, ApproverView } from "#lib/contract/approval-views.ts";
import { approvalListColumns } from "./list-approvals.ts";
import { withBrokenCall } from "./broken-call.ts";
import { millis } from "./columns.ts";
import { notFound } from "./require-run.ts";
import { callColumns, CallRow } from "./run-rows.ts";
import { decodeShown, shownColumns } from "./shown-records.ts";
import { decodeRows } from "./snapshot.ts";

export const ApprovalRow = Schema.Struct({
  ...ApprovalListItem.fields,
  content: Schema.fromJsonString(ApprovalRequestContent),
  parametersDigest: Digest,
  approversRequired: Schema.Int,
  selfApproval: Schema.Boolean,
  requesterId: Schema.String,
  deciderKind: Schema.NullOr(Actor.fields.kind),
  deciderId: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  deliveredAt: Schema.NullOr(EpochMillis),
  /** Canonical text of what a denial suggested. */
  suggestion: Schema.NullOr(Schema.fromJsonString(Schema.Json)),
  approvers: Schema.Array(ApproverView),
  lookers: Schema.Array(ApprovalLooker),
  definitionDigest: Schema.NullOr(Digest),
  toolCalls: Schema.Int,
  /** The run's input while the request is pending: the host's filter is asked with it. */
  input: Schema.NullOr(Schema.fromJsonString(Schema.Json)),
});
export type ApprovalRow = typeof ApprovalRow.Type;

/** Who reads a pending request now, of `approval_requests AS a`; one `json` value. */
const lookersColumn = `
  coalesce((SELECT json_agg(json_build_object('operatorId', l.operator_id, 'name', l.operator_name,
      'until', ${millis("l.looks_until")}) ORDER BY l.operator_id)
    FROM approval_looks l WHERE a.state = 'pending' AND l.tenant_id = a.tenant_id
      AND l.request_id = a.request_id AND l.looks_until > now()), '[]')`;

export const readApproval = (tenantId: TenantId, requestId: ApprovalRequestId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(ApprovalRow)(sql`
      SELECT ${sql.literal(approvalListColumns)}, a.content, a.parameters_digest AS "parametersDigest",
        a.approvers_required AS "approversRequired", a.self_approval AS "selfApproval",
        r.requester_id AS "requesterId", a.decider_kind AS "deciderKind", a.decider_id AS "deciderId",
        a.decision_reason AS reason, ${sql.literal(millis("a.delivered_at"))} AS "deliveredAt",
        a.suggestion, r.definition_digest AS "definitionDigest", r.tool_calls AS "toolCalls",
        CASE WHEN a.state = 'pending' THEN s.input END AS input,
        coalesce((SELECT json_agg(json_build_object('operatorId', v.operator_id, 'name', v.operator_name,
            'reason', v.reason, 'at', ${sql.literal(millis("v.voted_at"))}) ORDER BY v.voted_at, v.operator_id)
          FROM approval_votes v WHERE v.tenant_id = a.tenant_id
            AND v.request_id = a.request_id AND v.decision = 'approved'), '[]') AS approvers,
        ${sql.literal(lookersColumn)} AS lookers
      FROM approval_requests a JOIN runs r ON r.tenant_id = a.tenant_id AND r.run_id = a.run_id
      JOIN submissions s ON s.tenant_id = r.tenant_id AND s.submission_id = r.submission_id
      WHERE a.tenant_id = ${tenantId} AND a.request_id = ${requestId}`);
    return rows[0] ?? (yield* notFound("approval request"));
  });

export const BatchRow = Schema.Struct({ ...CallRow.fields, summary: Schema.NullOr(Schema.String) });
export type BatchRow = typeof BatchRow.Type;

/** Every call of the batch, in declaration order. */
export const readBatch = (tenantId: TenantId, row: ApprovalRow) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(BatchRow)(sql`
      SELECT ${sql.literal(callColumns)}, b.summary
      FROM tool_calls t LEFT JOIN approval_requests b
        ON b.tenant_id = t.tenant_id AND b.request_id = t.approval_request_id
      WHERE t.tenant_id = ${tenantId} AND t.run_id = ${row.runId} AND t.turn = ${row.turn}
        AND t.parent_call_id IS NULL
      ORDER BY t.call_index`),
  ).pipe(Effect.flatMap((rows) => withBrokenCall(tenantId, row.runId, rows)));

/** The records that say what really ran: the call's prepared and settled ones. */
export const readExecution = (tenantId: TenantId, row: ApprovalRow) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeShown(tenantId)(sql`
      SELECT ${sql.literal(shownColumns)} FROM tool_calls t JOIN journal_records j
        ON j.tenant_id = t.tenant_id AND j.thread_id = t.thread_id
        AND j.sequence IN (t.prepared_sequence, t.settled_sequence)
      WHERE t.tenant_id = ${tenantId} AND t.run_id = ${row.runId} AND t.turn = ${row.turn}
        AND t.call_id = ${row.callId}`),
  ).pipe(Effect.map((rows) => rows.map(({ record }) => record)));
