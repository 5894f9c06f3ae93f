/**
 * Another try for work that keeps failing (OP-12). A run that still backs off gets
 * its next attempt now and goes on from its records; one that was given up is
 * submitted once more, and only when no call with an effect had started in it.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { RetryRun } from "#lib/contract/commands.ts";
import { RetryRefused } from "#lib/contract/errors.ts";
import type { RunId } from "#lib/contract/ids.ts";
import { RetryReceipt } from "#lib/contract/obligation-views.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { announce } from "#server/postgres/announce.ts";
import { transaction } from "#server/postgres/Database.ts";
import { judgeRetry } from "#server/views/explain-run.ts";
import { readRunToExplain } from "#server/views/run-explanation.ts";
import { actForTenant, decodeRows, orStoreUnavailable } from "#server/views/snapshot.ts";
import { lockSubmission } from "./lock-submission.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

type Locked = Effect.Success<ReturnType<typeof lockSubmission>>;

/** In the name of whoever asked first, and once per run however many people retry it. */
const submitAgain = Effect.fnUntraced(function* (
  operator: Operator,
  runId: RunId,
  { title, unknownPolicy, requester, threadId, agentId, input }: Locked,
) {
  const sql = yield* SqlClient;
  const ledger = yield* SubmissionLedger;
  const receipt = yield* ledger.admit({
    tenantId: operator.tenantId,
    agentId,
    threadId,
    principal: requester,
    idempotencyKey: `retry-${runId}`,
    input,
    title,
    unknownPolicy,
  });
  // The ledger's own hint was given before the commit; this one arrives with it.
  yield* sql`SELECT pg_notify('effect_agent', ${`inbox ${operator.tenantId}`})`;
  return { kind: "new-submission", runId: receipt.runId, threadId } as const;
});

const attemptNow = Effect.fnUntraced(function* (operator: Operator, runId: RunId, locked: Locked) {
  const sql = yield* SqlClient;
  yield* sql`
    UPDATE submissions SET due_at = clock_timestamp(), lost_attempts = 0
    WHERE tenant_id = ${operator.tenantId} AND run_id = ${runId} AND state = 'ready'`;
  const { threadId, agentId } = locked;
  yield* announce(
    { tenantId: operator.tenantId, agentId, threadId, runId },
    { _tag: "RunWoken", actor: actorOf(operator) },
  );
  return { kind: "new-attempt", runId, threadId } as const;
});

const change = (operator: Operator, runId: RunId) =>
  Effect.gen(function* () {
    const { tenantId } = operator;
    const locked = yield* lockSubmission(tenantId, runId);
    const run = yield* readRunToExplain(tenantId, runId);
    const verdict = judgeRetry(run);
    if (!verdict.possible)
      return yield* new RetryRefused({ message: verdict.effect, state: run.state });
    const receipt =
      run.submission === "settled"
        ? yield* submitAgain(operator, runId, locked)
        : yield* attemptNow(operator, runId, locked);
    return {
      runId,
      before: { state: run.state, lostAttempts: run.lostAttempts },
      after: receipt,
      wake: { tenantId, threadId: locked.threadId },
    } satisfies Change;
  });

const Answer = Schema.Struct({ answer: Schema.fromJsonString(RetryReceipt) });

/** What the command made when it was first carried out. */
const receiptOf = (operator: Operator, { commandId }: RetryRun) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    yield* actForTenant(operator.tenantId);
    const [row] = yield* decodeRows(Answer)(sql`
      SELECT answer FROM operator_commands
      WHERE tenant_id = ${operator.tenantId} AND command_id = ${commandId}`);
    return row === undefined
      ? yield* Effect.die("A command that was carried out has no answer")
      : row.answer;
  });

export const retryRun = Effect.fn("operator.retryRun")(function* (
  operator: Operator,
  runId: RunId,
  command: RetryRun,
) {
  const { commandId, ...payload } = command;
  yield* runCommand(
    { operator, act: "retry-run", target: runId, commandId, payload, reason: command.reason },
    change(operator, runId),
  );
  return yield* transaction("retry-run", receiptOf(operator, command)).pipe(orStoreUnavailable);
});
