/** What the drill's operator does besides deciding, resolving and aborting; every act with its place before and after. */
import { Effect, Schema } from "effect";
import { SqlClient, SqlSchema } from "effect/unstable/sql";
import {
  type ApprovalRequestId,
  CommandId,
  DenialId,
  type RunId,
  type UnknownId,
} from "#lib/contract/ids.ts";
import { around } from "#lib/testing/failpoints.ts";
import { acknowledgeDenial } from "#server/operator/acknowledge-denial.ts";
import { exportProof } from "#server/operator/export-proof.ts";
import { extendApproval } from "#server/operator/extend-approval.ts";
import { probeUnknown } from "#server/operator/probe-unknown.ts";
import { retryRun } from "#server/operator/retry-run.ts";
import type { Operator } from "#server/operator/run-command.ts";
import { wakeRun } from "#server/operator/wake-run.ts";

/** Longer than any tool of the drill asks for; the request of a person's own tool may never expire. */
export const moreTime = (operator: Operator, requestId: ApprovalRequestId) =>
  extendApproval(operator, requestId, {
    commandId: CommandId.make(`extend-${requestId}`),
    seconds: 2 * 86_400,
    reason: "drill",
  }).pipe(
    Effect.catchTag("InvalidInput", () => Effect.void),
    around("extend-approval"),
  );

/** A tool of a person's own may have no probe. */
export const probeOnce = (operator: Operator, unknownId: UnknownId) =>
  probeUnknown(operator, unknownId, { commandId: CommandId.make(`probe-${unknownId}`) }).pipe(
    Effect.catchTag("ProbeRefused", () => Effect.void),
    around("probe-unknown"),
  );

/** A run that waits an hour for its first attempt, as one does whose attempts were lost; nothing of it has happened. */
export const putOff = (runId: RunId, why: "wake" | "retry") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE submissions SET due_at = now() + interval '1 hour',
        lost_attempts = ${why === "retry" ? 3 : 0}, postponed_reason = 'drill'
      WHERE run_id = ${runId} AND state = 'ready' AND claims = 0
        AND NOT EXISTS (SELECT FROM operator_commands c WHERE c.command_id = ${`${why}-${runId}`})`,
  );

export const goOnFromLater = (operator: Operator, runId: RunId, why: "wake" | "retry") => {
  const command = { commandId: CommandId.make(`${why}-${runId}`), reason: "drill" };
  return why === "wake"
    ? wakeRun(operator, runId, command).pipe(around("wake-run"))
    : retryRun(operator, runId, command).pipe(around("retry-run"));
};

const DenialRow = Schema.Struct({ denialId: DenialId });

export const acknowledgeAndExport = Effect.fnUntraced(function* (operator: Operator, runId: RunId) {
  const sql = yield* SqlClient.SqlClient;
  const denials = yield* SqlSchema.findAll({
    Request: Schema.String,
    Result: DenialRow,
    execute: (id) => sql`SELECT denial_id AS "denialId" FROM denials WHERE run_id = ${id}`,
  })(runId);
  for (const { denialId } of denials)
    yield* acknowledgeDenial(operator, denialId, {
      commandId: CommandId.make(`seen-${denialId}`),
      note: "drill",
    }).pipe(around("acknowledge-denial"));
  yield* exportProof(operator, runId, { commandId: CommandId.make(`proof-${runId}`) }).pipe(
    around("export-proof"),
  );
});
