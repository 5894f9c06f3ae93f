/** Notes that a person has seen a denial or a check error; nothing runs again because of it (OP-06). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { AcknowledgeDenial } from "#lib/contract/commands.ts";
import { AgentId, type DenialId, RunId, ThreadId } from "#lib/contract/ids.ts";
import { columnText } from "#server/postgres/columns.ts";
import { notFound } from "#server/views/require-run.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { announce } from "#server/postgres/announce.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const Found = Schema.Struct({
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  acknowledgedBy: Schema.NullOr(Schema.String),
});

const change = (operator: Operator, denialId: DenialId, command: AcknowledgeDenial) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const actor = actorOf(operator);
    const rows = yield* decodeRows(Found)(sql`
      SELECT run_id AS "runId", thread_id AS "threadId", agent_id AS "agentId",
        acknowledger_name AS "acknowledgedBy" FROM denials
      WHERE tenant_id = ${operator.tenantId} AND denial_id = ${denialId} FOR UPDATE`);
    const denial = rows[0] ?? (yield* notFound("denial"));
    const note = columnText(command.note);
    const written = yield* sql`
      UPDATE denials SET acknowledged_at = date_trunc('milliseconds', clock_timestamp()),
        acknowledger_id = ${actor.id}, acknowledger_name = ${actor.name}, note = ${note}
      WHERE tenant_id = ${operator.tenantId} AND denial_id = ${denialId} AND acknowledged_at IS NULL
      RETURNING denial_id`;
    const before = { acknowledgedBy: denial.acknowledgedBy };
    // The first note stays; a second person's answer shows whose it is.
    if (written.length === 0)
      return { runId: denial.runId, before, after: before } satisfies Change;
    yield* announce(
      { ...denial, tenantId: operator.tenantId },
      { _tag: "DenialAcknowledged", denialId, actor },
    );
    return {
      runId: denial.runId,
      before,
      after: { acknowledgedBy: actor.name, note },
    } satisfies Change;
  });

export const acknowledgeDenial = Effect.fn("operator.acknowledgeDenial")(function* (
  operator: Operator,
  denialId: DenialId,
  command: AcknowledgeDenial,
) {
  const { commandId, ...payload } = command;
  yield* runCommand(
    {
      operator,
      act: "acknowledge-denial",
      target: denialId,
      commandId,
      payload,
      reason: command.note,
    },
    change(operator, denialId, command),
  );
});
