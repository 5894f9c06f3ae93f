/** Asks a run to end: durable before anything is interrupted, and never a claim of rollback (DU-12). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { AbortRun } from "#lib/contract/commands.ts";
import { RunAlreadySettled } from "#lib/contract/errors.ts";
import { AgentId, type RunId, ThreadId } from "#lib/contract/ids.ts";
import { RunState } from "#lib/contract/status.ts";
import { columnText } from "#server/postgres/columns.ts";
import { notFound } from "#server/views/require-run.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { announce } from "./announce.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const Locked = Schema.Struct({ threadId: ThreadId, agentId: AgentId, state: RunState });

const isSettled = (state: RunState): boolean =>
  state === "completed" || state === "failed" || state === "aborted";

const change = (operator: Operator, runId: RunId, command: AbortRun) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    // The lock keeps the settlement from slipping in between the look and the abort.
    const rows = yield* decodeRows(Locked)(sql`
      SELECT thread_id AS "threadId", agent_id AS "agentId", state FROM runs
      WHERE tenant_id = ${operator.tenantId} AND run_id = ${runId} FOR UPDATE`);
    const run = rows[0] ?? (yield* notFound("run"));
    if (isSettled(run.state))
      return yield* new RunAlreadySettled({
        message: `The run is ${run.state} already; a settled outcome does not change.`,
        state: run.state,
      });
    const actor = actorOf(operator);
    const reason = columnText(command.reason);
    const asked = yield* sql`
      INSERT INTO abort_requests (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason,
        command_id, requested_at)
      VALUES (${operator.tenantId}, ${runId}, ${run.threadId}, ${actor.kind}, ${actor.id}, ${actor.name},
        ${reason}, ${command.commandId}, date_trunc('milliseconds', clock_timestamp()))
      ON CONFLICT DO NOTHING RETURNING run_id`;
    const wake = { tenantId: operator.tenantId, threadId: run.threadId };
    const before = { state: run.state, abortRequested: asked.length === 0 };
    const after = { state: run.state, abortRequested: true };
    // Somebody asked before: the first author and reason stay.
    if (asked.length > 0)
      yield* announce(
        { ...run, tenantId: operator.tenantId, runId },
        { _tag: "AbortRequested", actor, reason },
      );
    return { runId, before, after, wake } satisfies Change;
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
