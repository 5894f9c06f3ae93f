/** Makes a run that waits for its next attempt due now (OP-12). What it does then follows from its records. */
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { WakeRun } from "#lib/contract/commands.ts";
import { RunAlreadySettled, WakeRefused } from "#lib/contract/errors.ts";
import type { RunId } from "#lib/contract/ids.ts";
import { announce } from "#server/postgres/announce.ts";
import { judgeWake } from "#server/views/explain-run.ts";
import { readRunToExplain } from "#server/views/run-explanation.ts";
import { lockSubmission } from "./lock-submission.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const change = (operator: Operator, runId: RunId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const { tenantId } = operator;
    const { threadId, agentId } = yield* lockSubmission(tenantId, runId);
    const run = yield* readRunToExplain(tenantId, runId);
    const verdict = judgeWake(run);
    if (run.submission === "settled")
      return yield* new RunAlreadySettled({ message: verdict.effect, state: run.state });
    if (!verdict.possible)
      return yield* new WakeRefused({ message: verdict.effect, state: run.state });
    yield* sql`
      UPDATE submissions SET due_at = clock_timestamp()
      WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND state = 'ready'
        AND due_at > clock_timestamp()`;
    yield* announce(
      { tenantId, agentId, threadId, runId },
      { _tag: "RunWoken", actor: actorOf(operator) },
    );
    return {
      runId,
      before: { state: run.submission, dueAt: run.dueAt },
      after: { state: run.submission, dueAt: Math.min(run.dueAt, run.now) },
      wake: { tenantId, threadId },
    } satisfies Change;
  });

/** Refused where an attempt would change nothing; the refusal says what the run waits for. */
export const wakeRun = Effect.fn("operator.wakeRun")(function* (
  operator: Operator,
  runId: RunId,
  command: WakeRun,
) {
  const { commandId, ...payload } = command;
  yield* runCommand(
    { operator, act: "wake-run", target: runId, commandId, payload, reason: command.reason },
    change(operator, runId),
  );
});
