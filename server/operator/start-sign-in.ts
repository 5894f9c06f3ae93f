/** Opens a sign-in for an operator who has proved who they are; the secret goes into the cookie and is not kept. */
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { Audit } from "#lib/durable/Audit.ts";
import type { OperatorRow } from "./find-operator.ts";
import { actorOf } from "./run-command.ts";
import { newSecret, secretDigest } from "./secrets.ts";

/** Days until a sign-in ends by itself. */
export const signInDays = 14;

/** Call it in the transaction that used the link or checked the password. */
export const startSignIn = (operator: OperatorRow, how: "link" | "password") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const audit = yield* Audit;
    const secret = yield* newSecret("eas");
    yield* sql`
      INSERT INTO sign_in_sessions (tenant_id, session_digest, operator_id, expires_at)
      VALUES (${operator.tenantId}, ${secretDigest(secret)}, ${operator.operatorId},
        clock_timestamp() + ${signInDays}::int4 * interval '1 day')`;
    yield* audit.append({
      tenantId: operator.tenantId,
      actor: actorOf(operator),
      verb: "sign-in",
      target: operator.operatorId,
      runId: null,
      accepted: true,
      reason: "",
      before: null,
      after: { how },
      commandId: null,
    });
    return { operator, secret };
  });
