/** Asks a run to end: durable before anything is interrupted, and never a claim of rollback (DU-12). */
import * as Effect from "effect/Effect";
import type { AbortRun } from "#lib/contract/commands.ts";
import type { RunId } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const change = (operator: Operator, runId: RunId, command: AbortRun) =>
  Effect.gen(function* () {
    const ledger = yield* SubmissionLedger;
    const { tenantId } = operator;
    const { threadId, state, isFirst } = yield* ledger.abort({
      tenantId,
      runId,
      actor: actorOf(operator),
      reason: command.reason,
      commandId: command.commandId,
    });
    return {
      runId,
      before: { state, abortRequested: !isFirst },
      after: { state, abortRequested: true },
      wake: { tenantId, threadId },
    } satisfies Change;
  });

/** Marks the run and wakes its thread; the driver settles it, at once when it never ran. */
export const abortRun = Effect.fn("operator.abortRun")(function* (
  operator: Operator,
  runId: RunId,
  command: AbortRun,
) {
  const { commandId, ...payload } = command;
  yield* runCommand(
    { operator, act: "abort-run", target: runId, commandId, payload, reason: command.reason },
    change(operator, runId, command),
  );
});
