/** Ends the sign-in of this cookie. A bearer token stays: it belongs to a program, and an administrator revokes it. */
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { Audit } from "#lib/durable/Audit.ts";
import { transaction } from "#server/postgres/Database.ts";
import { actForTenant, orStoreUnavailable } from "#server/views/snapshot.ts";
import { actorOf, type Operator } from "./run-command.ts";

export const signOut = Effect.fn("operator.signOut")(function* (operator: Operator) {
  if (operator.proof === "bearer") return;
  const end = Effect.gen(function* () {
    const sql = yield* SqlClient;
    yield* actForTenant(operator.tenantId);
    yield* sql`
      UPDATE sign_in_sessions SET ended_at = clock_timestamp()
      WHERE tenant_id = ${operator.tenantId} AND session_digest = ${operator.credentialDigest}
        AND ended_at IS NULL`;
    yield* (yield* Audit).append({
      tenantId: operator.tenantId,
      actor: actorOf(operator),
      verb: "sign-out",
      target: operator.operatorId,
      runId: null,
      accepted: true,
      reason: "",
      before: null,
      after: null,
      commandId: null,
    });
  });
  yield* transaction("sign-out", end).pipe(orStoreUnavailable);
});
