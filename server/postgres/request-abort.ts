/** An abort is a row first: stored with its event before anything is interrupted (DU-12). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { RunAlreadySettled } from "#lib/contract/errors.ts";
import { AgentId, ThreadId } from "#lib/contract/ids.ts";
import { RunOutcome, RunState } from "#lib/contract/status.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { columnText } from "#lib/durable/storable-text.ts";
import type { AbortAnswer, SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { announce } from "./announce.ts";

const isSettled = Schema.is(RunOutcome);

const Row = Schema.Struct({ threadId: ThreadId, agentId: AgentId, state: RunState });

/** Writes in the caller's transaction; call it in one. */
export const makeRequestAbort = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  // The lock keeps the settlement from slipping in between the look and the abort.
  const lockRun = SqlSchema.findOneOption({
    Request: Schema.Struct({ tenantId: Schema.String, runId: Schema.String }),
    Result: Row,
    execute: ({ tenantId, runId }) => sql`
      SELECT thread_id AS "threadId", agent_id AS "agentId", state FROM runs
      WHERE tenant_id = ${tenantId} AND run_id = ${runId} FOR UPDATE`,
  });
  return Effect.fnUntraced(function* (
    request: Parameters<SubmissionLedger["Service"]["abort"]>[0],
  ) {
    const { tenantId, runId, actor } = request;
    const run = yield* Effect.flatMap(
      lockRun(request),
      Effect.fromOption(() => notFound("run")),
    );
    if (isSettled(run.state))
      return yield* new RunAlreadySettled({
        message: `The run is ${run.state} already; a settled outcome does not change.`,
        state: run.state,
      });
    const reason = columnText(request.reason);
    const asked = yield* sql`
      INSERT INTO abort_requests (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason,
        command_id, requested_at)
      VALUES (${tenantId}, ${runId}, ${run.threadId}, ${actor.kind}, ${actor.id}, ${actor.name},
        ${reason}, ${request.commandId}, date_trunc('milliseconds', clock_timestamp()))
      ON CONFLICT DO NOTHING RETURNING run_id`;
    const isFirst = asked.length > 0;
    if (isFirst)
      yield* announce({ ...run, tenantId, runId }, { _tag: "AbortRequested", actor, reason });
    return { threadId: run.threadId, state: run.state, isFirst } satisfies AbortAnswer;
  });
});
