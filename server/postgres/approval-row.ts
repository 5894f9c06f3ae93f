/** An approval's row with the votes and the clock that judging it needs. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import {
  AgentId,
  ApprovalRequestId,
  Digest,
  RunId,
  type TenantId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import { ApprovalState } from "#lib/contract/status.ts";
import type { StoredApproval } from "#lib/durable/Approvals.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { Millis } from "./columns.ts";

const Row = Schema.Struct({
  requestId: ApprovalRequestId,
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  turn: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  summary: Schema.String,
  state: ApprovalState,
  parametersDigest: Digest,
  approversRequired: Schema.Int,
  selfApproval: Schema.Boolean,
  requesterId: Schema.String,
  expiresAt: Schema.NullOr(Millis),
  decidedBy: Schema.NullOr(Schema.String),
  decidedAt: Schema.NullOr(Millis),
});

const Since = Schema.Struct({ now: Millis, approvedBy: Schema.Array(Schema.String) });

interface RequestPlace {
  readonly tenantId: TenantId;
  readonly requestId: ApprovalRequestId;
}
const RequestPlace = Schema.Struct({ tenantId: Schema.String, requestId: Schema.String });

export const makeApprovalRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const columns = sql`
    a.request_id AS "requestId", a.run_id AS "runId", a.thread_id AS "threadId",
    a.agent_id AS "agentId", a.turn, a.call_id AS "callId", a.tool_name AS "toolName", a.summary,
    a.state, a.parameters_digest AS "parametersDigest", a.approvers_required AS "approversRequired",
    a.self_approval AS "selfApproval", r.requester_id AS "requesterId", a.expires_at AS "expiresAt",
    a.decider_name AS "decidedBy", a.decided_at AS "decidedAt"
    FROM approval_requests a JOIN runs r ON r.tenant_id = a.tenant_id AND r.run_id = a.run_id`;
  const since = sql`
    clock_timestamp() AS now,
    ARRAY(SELECT v.operator_id FROM approval_votes v WHERE v.tenant_id = a.tenant_id
      AND v.request_id = a.request_id AND v.decision = 'approved' ORDER BY v.voted_at) AS "approvedBy"`;

  const lockRow = SqlSchema.findOneOption({
    Request: RequestPlace,
    Result: Row,
    execute: ({ tenantId, requestId }) => sql`
      SELECT ${columns}
      WHERE a.tenant_id = ${tenantId} AND a.request_id = ${requestId} FOR UPDATE OF a`,
  });
  const readSince = SqlSchema.findOneOption({
    Request: RequestPlace,
    Result: Since,
    execute: ({ tenantId, requestId }) => sql`
      SELECT ${since} FROM approval_requests a
      WHERE a.tenant_id = ${tenantId} AND a.request_id = ${requestId}`,
  });

  /**
   * Waits for whoever decides at this moment, then sees what they left. Votes and
   * the clock are read after the lock is held.
   */
  const lock = Effect.fnUntraced(function* (request: RequestPlace) {
    const row = yield* Effect.flatMap(
      lockRow(request),
      Effect.fromOption(() => notFound("approval request")),
    );
    const { now, approvedBy } = yield* Effect.orDie(
      Effect.flatMap(readSince(request), Effect.fromOption),
    );
    return { ...row, now, approvedBy } satisfies StoredApproval;
  });

  const Whole = Schema.Struct({ ...Row.fields, ...Since.fields });
  const find = SqlSchema.findOneOption({
    Request: RequestPlace,
    Result: Whole,
    execute: ({ tenantId, requestId }) => sql`
      SELECT ${since}, ${columns} WHERE a.tenant_id = ${tenantId} AND a.request_id = ${requestId}`,
  });
  const ofRun = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, runId: Schema.String }),
    Result: Whole,
    execute: ({ tenantId, runId }) => sql`
      SELECT ${since}, ${columns} WHERE a.tenant_id = ${tenantId} AND a.run_id = ${runId}
      ORDER BY a.turn, a.requested_sequence, a.request_id LIMIT 1000`,
  });

  return { lock, find, ofRun };
});
