/**
 * "Ana is looking": who has a pending request open. It claims nothing and blocks
 * nobody, so it is no command and leaves no audit row; it ends by itself.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { LookAtApproval } from "#lib/contract/commands.ts";
import {
  AgentId,
  type ApprovalRequestId,
  EpochMillis,
  RunId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import { ApprovalLooker } from "#lib/contract/approval-views.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { announce } from "#server/postgres/announce.ts";
import { transaction } from "#server/postgres/Database.ts";
import { millis } from "#server/views/columns.ts";
import { actForTenant, decodeRows, orStoreUnavailable } from "#server/views/snapshot.ts";
import { actorOf, type Operator, requireRole } from "./run-command.ts";

/** Seconds that somebody is believed to look without being heard of again; browsers say so every 20. */
const lookSeconds = 45;

const Place = Schema.Struct({
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  turn: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  isPending: Schema.Boolean,
});

const Begun = Schema.Struct({ until: EpochMillis, isNew: Schema.Boolean });

/** Notes the look; true in `isNew` when nobody knew of it a moment ago. */
const begin = (operator: Operator, requestId: ApprovalRequestId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const [begun] = yield* decodeRows(Begun)(sql`
      WITH before AS (
        SELECT looks_until FROM approval_looks WHERE tenant_id = ${operator.tenantId}
          AND request_id = ${requestId} AND operator_id = ${operator.operatorId}
      )
      INSERT INTO approval_looks AS l (tenant_id, request_id, operator_id, operator_name, looks_until)
      VALUES (${operator.tenantId}, ${requestId}, ${operator.operatorId}, ${operator.name},
        clock_timestamp() + ${lookSeconds}::int4 * interval '1 second')
      ON CONFLICT (tenant_id, request_id, operator_id) DO UPDATE SET
        operator_name = excluded.operator_name, looks_until = excluded.looks_until
      RETURNING ${sql.literal(millis("l.looks_until"))} AS until,
        NOT EXISTS (SELECT FROM before WHERE looks_until > now()) AS "isNew"`);
    return begun;
  });

/** Ends the operator's own look, and forgets what nobody has asked about for a while. */
const end = (operator: Operator, requestId: ApprovalRequestId) =>
  Effect.flatMap(
    SqlClient,
    (sql) => sql`
      DELETE FROM approval_looks WHERE tenant_id = ${operator.tenantId}
        AND ((request_id = ${requestId} AND operator_id = ${operator.operatorId}) OR looks_until < now())`,
  );

const look = (operator: Operator, requestId: ApprovalRequestId, { looking }: LookAtApproval) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const { tenantId } = operator;
    yield* actForTenant(tenantId);
    const [place] = yield* decodeRows(Place)(sql`
      SELECT run_id AS "runId", thread_id AS "threadId", agent_id AS "agentId", turn,
        call_id AS "callId", tool_name AS "toolName", state = 'pending' AS "isPending"
      FROM approval_requests WHERE tenant_id = ${tenantId} AND request_id = ${requestId}`);
    if (place === undefined) return yield* notFound("approval request");
    const begun = looking && place.isPending ? yield* begin(operator, requestId) : undefined;
    if (begun === undefined) yield* end(operator, requestId);
    else if (begun.isNew) {
      const { turn, callId, toolName } = place;
      const actor = actorOf(operator);
      yield* announce(
        { ...place, tenantId },
        { _tag: "ApprovalLookedAt", turn, callId, toolName, requestId, actor, until: begun.until },
      );
    }
    const lookers = yield* decodeRows(ApprovalLooker)(sql`
      SELECT operator_id AS "operatorId", operator_name AS name,
        ${sql.literal(millis("looks_until"))} AS until
      FROM approval_looks WHERE tenant_id = ${tenantId} AND request_id = ${requestId}
        AND operator_id <> ${operator.operatorId} AND looks_until > now() ORDER BY operator_id`);
    return { lookers: place.isPending ? lookers : [] };
  });

/** Begins, goes on with or ends a look; answers who else looks. */
export const lookAtApproval = Effect.fn("operator.lookAtApproval")(function* (
  operator: Operator,
  requestId: ApprovalRequestId,
  payload: LookAtApproval,
) {
  yield* requireRole({ operator, act: "look-at-approval", target: requestId, commandId: null });
  return yield* transaction("look-at-approval", look(operator, requestId, payload)).pipe(
    orStoreUnavailable,
  );
});
