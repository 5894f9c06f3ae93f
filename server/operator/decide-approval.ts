/** A person's answer to one call (A-09, A-12, C021 to C026). */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type { DecideApproval } from "#lib/contract/commands.ts";
import type { ApprovalRequestId } from "#lib/contract/ids.ts";
import { Approvals } from "#lib/durable/Approvals.ts";
import { readSuggestion, requireFreshLook } from "./judge-answer.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const change = (operator: Operator, requestId: ApprovalRequestId, command: DecideApproval) =>
  Effect.gen(function* () {
    const approvals = yield* Approvals;
    const { tenantId } = operator;
    const found = yield* approvals.find({ tenantId, requestId });
    // What the store refuses anyway it refuses in its own words.
    const open = Option.filter(
      found,
      ({ state, parametersDigest }) =>
        state === "pending" && parametersDigest === command.parametersDigest,
    );
    const suggestion = Option.isSome(open) ? yield* readSuggestion(open.value, command) : undefined;
    if (Option.isSome(open)) yield* requireFreshLook(tenantId, open.value, command);
    const { commandId, decision, parametersDigest, reason } = command;
    const { before: row, verdict } = yield* approvals.decide({
      tenantId,
      requestId,
      actor: actorOf(operator),
      commandId,
      decision,
      parametersDigest,
      reason,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
    const before = { state: row.state, expiresAt: row.expiresAt, approvedBy: row.approvedBy };
    if (verdict.kind === "count") {
      const approvedBy = [...row.approvedBy, operator.operatorId];
      return {
        runId: row.runId,
        before,
        after: { ...before, approvedBy, missing: verdict.missing },
      } satisfies Change;
    }
    return {
      runId: row.runId,
      before,
      after: {
        state: command.decision,
        parametersDigest: row.parametersDigest,
        ...(suggestion === undefined ? {} : { suggestion }),
      },
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
