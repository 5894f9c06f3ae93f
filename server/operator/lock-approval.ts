/** The approval row, locked for the transaction that is about to change it. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import {
  AgentId,
  type ApprovalRequestId,
  Digest,
  EpochMillis,
  RunId,
  type TenantId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import { ApprovalState } from "#lib/contract/status.ts";
import { millis } from "#server/views/columns.ts";
import { notFound } from "#server/views/require-run.ts";
import { decodeRows } from "#server/views/snapshot.ts";

const Locked = Schema.Struct({
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  turn: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  state: ApprovalState,
  parametersDigest: Digest,
  approversRequired: Schema.Int,
  selfApproval: Schema.Boolean,
  requesterId: Schema.String,
  expiresAt: Schema.NullOr(EpochMillis),
  decidedBy: Schema.NullOr(Schema.String),
  decidedAt: Schema.NullOr(EpochMillis),
});

const Since = Schema.Struct({ now: EpochMillis, approvedBy: Schema.Array(Schema.String) });

/**
 * Waits for whoever decides at this moment, then sees what they left. Votes and
 * the clock are read after the lock is held.
 */
export const lockApproval = (tenantId: TenantId, requestId: ApprovalRequestId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(Locked)(sql`
      SELECT a.run_id AS "runId", a.thread_id AS "threadId", a.agent_id AS "agentId", a.turn,
        a.call_id AS "callId", a.tool_name AS "toolName", a.state,
        a.parameters_digest AS "parametersDigest", a.approvers_required AS "approversRequired",
        a.self_approval AS "selfApproval", r.requester_id AS "requesterId",
        ${sql.literal(millis("a.expires_at"))} AS "expiresAt", a.decider_name AS "decidedBy",
        ${sql.literal(millis("a.decided_at"))} AS "decidedAt"
      FROM approval_requests a JOIN runs r ON r.tenant_id = a.tenant_id AND r.run_id = a.run_id
      WHERE a.tenant_id = ${tenantId} AND a.request_id = ${requestId} FOR UPDATE OF a`);
    const locked = rows[0] ?? (yield* notFound("approval request"));
    const since = yield* decodeRows(Since)(sql`
      SELECT ${sql.literal(millis("clock_timestamp()"))} AS now,
        ARRAY(SELECT v.operator_id FROM approval_votes v WHERE v.tenant_id = ${tenantId}
          AND v.request_id = ${requestId} AND v.decision = 'approved' ORDER BY v.voted_at) AS "approvedBy"`);
    return { ...locked, ...(since[0] ?? { now: 0, approvedBy: [] }) };
  });
