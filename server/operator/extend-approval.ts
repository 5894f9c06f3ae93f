/** More time to decide: an audited act of a person (A-07, C013). */
import * as Effect from "effect/Effect";
import type { ExtendApproval } from "#lib/contract/commands.ts";
import type { ApprovalRequestId } from "#lib/contract/ids.ts";
import { Approvals } from "#lib/durable/Approvals.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const change = (operator: Operator, requestId: ApprovalRequestId, command: ExtendApproval) =>
  Effect.gen(function* () {
    const approvals = yield* Approvals;
    const { before, expiresAt } = yield* approvals.extend({
      tenantId: operator.tenantId,
      requestId,
      actor: actorOf(operator),
      seconds: command.seconds,
    });
    return {
      runId: before.runId,
      before: { expiresAt: before.expiresAt },
      after: { expiresAt },
    } satisfies Change;
  });

export const extendApproval = Effect.fn("operator.extendApproval")(function* (
  operator: Operator,
  requestId: ApprovalRequestId,
  command: ExtendApproval,
) {
  const { commandId, ...payload } = command;
  yield* runCommand(
    {
      operator,
      act: "extend-approval",
      target: requestId,
      commandId,
      payload,
      reason: command.reason,
    },
    change(operator, requestId, command),
  );
});
