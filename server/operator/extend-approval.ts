/** More time to decide: an audited act of a person (A-07, C013). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { ExtendApproval } from "#lib/contract/commands.ts";
import { InvalidInput } from "#lib/contract/errors.ts";
import { type ApprovalRequestId, EpochMillis } from "#lib/contract/ids.ts";
import { millis } from "#server/views/columns.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { announce } from "./announce.ts";
import { refuseDecided } from "./judge-approval.ts";
import { lockApproval } from "./lock-approval.ts";
import { actorOf, type Change, type Operator, runCommand } from "./run-command.ts";

const Moved = Schema.Struct({ expiresAt: EpochMillis });

const refuseExtension = (expiresAt: number | null, now: number, seconds: number) => {
  if (expiresAt === null)
    return new InvalidInput({
      message: "This request never expires; there is no time to extend.",
      path: "body.seconds",
    });
  const left = Math.ceil((expiresAt - now) / 1_000);
  if (left < seconds) return undefined;
  return new InvalidInput({
    message: `This request is open for another ${left} s; ${seconds} s from now would be earlier.`,
    path: "body.seconds",
    limit: `more than ${left} s`,
    seen: `${seconds} s`,
  });
};

const change = (operator: Operator, requestId: ApprovalRequestId, command: ExtendApproval) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const row = yield* lockApproval(operator.tenantId, requestId);
    const refusal = refuseDecided(row) ?? refuseExtension(row.expiresAt, row.now, command.seconds);
    if (refusal !== undefined) return yield* Effect.fail(refusal);
    const moved = yield* decodeRows(Moved)(sql`
      UPDATE approval_requests SET expires_at = date_trunc('milliseconds', clock_timestamp())
        + ${command.seconds}::int4 * interval '1 second'
      WHERE tenant_id = ${operator.tenantId} AND request_id = ${requestId} AND state = 'pending'
      RETURNING ${sql.literal(millis("expires_at"))} AS "expiresAt"`);
    const expiresAt =
      moved[0]?.expiresAt ?? (yield* Effect.die("A locked pending approval was not there"));
    yield* announce(
      { ...row, tenantId: operator.tenantId },
      {
        _tag: "ApprovalExtended",
        turn: row.turn,
        callId: row.callId,
        toolName: row.toolName,
        requestId,
        expiresAt,
        actor: actorOf(operator),
      },
    );
    return {
      runId: row.runId,
      before: { expiresAt: row.expiresAt },
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
