/** Gives the operator a password, and ends every other sign-in of theirs: whoever stole one is out. */
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { SetPassword } from "#lib/contract/commands.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { transaction } from "#server/postgres/Database.ts";
import { actForTenant, orStoreUnavailable } from "#server/views/snapshot.ts";
import { hashPassword } from "./passwords.ts";
import { actorOf, type Operator, requireRole } from "./run-command.ts";

export const setPassword = Effect.fn("operator.setPassword")(function* (
  operator: Operator,
  command: SetPassword,
) {
  const target = operator.operatorId;
  yield* requireRole({ operator, act: "set-own-password", target, commandId: null });
  const passwordHash = yield* hashPassword(command.password);
  const change = Effect.gen(function* () {
    const sql = yield* SqlClient;
    yield* actForTenant(operator.tenantId);
    yield* sql`
      UPDATE operators SET password_hash = ${passwordHash}
      WHERE tenant_id = ${operator.tenantId} AND operator_id = ${operator.operatorId}`;
    yield* sql`
      UPDATE sign_in_sessions SET ended_at = clock_timestamp()
      WHERE tenant_id = ${operator.tenantId} AND operator_id = ${operator.operatorId}
        AND ended_at IS NULL AND session_digest <> ${operator.credentialDigest}`;
    yield* (yield* Audit).append({
      tenantId: operator.tenantId,
      actor: actorOf(operator),
      verb: "set-own-password",
      target,
      runId: null,
      accepted: true,
      reason: "",
      before: null,
      after: null,
      commandId: null,
    });
  });
  yield* transaction("set-own-password", change).pipe(orStoreUnavailable);
});
