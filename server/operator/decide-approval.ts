/** A person's answer to one call (A-09, A-12, C021 to C026). */
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { DecideApproval } from "#lib/contract/commands.ts";
import type { ApprovalRequestId } from "#lib/contract/ids.ts";
import { columnText } from "#server/postgres/columns.ts";
import { announce } from "./announce.ts";
import { judgeApproval } from "./judge-approval.ts";
import { lockApproval } from "./lock-approval.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const writeVote = (
  operator: Operator,
  requestId: ApprovalRequestId,
  command: DecideApproval,
  reason: string,
) =>
  Effect.flatMap(
    SqlClient,
    (sql) => sql`
      INSERT INTO approval_votes (tenant_id, request_id, operator_id, operator_name, decision, reason, command_id)
      VALUES (${operator.tenantId}, ${requestId}, ${operator.operatorId}, ${operator.name},
        ${command.decision}, ${reason}, ${command.commandId})`,
  );

/** Conditional although the row is locked: the statement itself says what it may overwrite. */
const writeDecision = (
  operator: Operator,
  requestId: ApprovalRequestId,
  command: DecideApproval,
  reason: string,
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const actor = actorOf(operator);
    const decided = yield* sql`
      UPDATE approval_requests SET state = ${command.decision}, decider_kind = ${actor.kind},
        decider_id = ${actor.id}, decider_name = ${actor.name}, decision_reason = ${reason},
        decision_command_id = ${command.commandId},
        decided_at = date_trunc('milliseconds', clock_timestamp())
      WHERE tenant_id = ${operator.tenantId} AND request_id = ${requestId} AND state = 'pending'
        AND parameters_digest = ${command.parametersDigest}
      RETURNING request_id`;
    if (decided.length !== 1) return yield* Effect.die("A locked pending approval was not there");
  });

const change = (operator: Operator, requestId: ApprovalRequestId, command: DecideApproval) =>
  Effect.gen(function* () {
    const row = yield* lockApproval(operator.tenantId, requestId);
    const verdict = yield* Effect.fromResult(judgeApproval(row, command, operator.operatorId));
    const reason = columnText(command.reason);
    const before = { state: row.state, expiresAt: row.expiresAt, approvedBy: row.approvedBy };
    if (row.approversRequired > 1) yield* writeVote(operator, requestId, command, reason);
    if (verdict.kind === "count") {
      const approvedBy = [...row.approvedBy, operator.operatorId];
      return {
        runId: row.runId,
        before,
        after: { ...before, approvedBy, missing: verdict.missing },
      } satisfies Change;
    }
    yield* writeDecision(operator, requestId, command, reason);
    yield* announce(
      { ...row, tenantId: operator.tenantId },
      {
        _tag: "ApprovalDecided",
        turn: row.turn,
        callId: row.callId,
        toolName: row.toolName,
        requestId,
        decision: command.decision,
        actor: actorOf(operator),
        reason,
      },
    );
    return {
      runId: row.runId,
      before,
      after: { state: command.decision, parametersDigest: row.parametersDigest },
      wake: { tenantId: operator.tenantId, threadId: row.threadId },
    } satisfies Change;
  });

/** Decides once; whoever comes second learns who was first. The run goes on once nothing of its batch is pending. */
export const decideApproval = Effect.fn("operator.decideApproval")(function* (
  operator: Operator,
  requestId: ApprovalRequestId,
  command: DecideApproval,
) {
  const { commandId, ...payload } = command;
  yield* runCommand(
    {
      operator,
      act: "decide-approval",
      target: requestId,
      commandId,
      payload,
      reason: command.reason,
    },
    change(operator, requestId, command),
  );
});
