/** Who a presented credential stands for. Found by digest, by the database's clock, of every tenant: the request names none. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { OperatorId, TenantId } from "#lib/contract/ids.ts";
import { OperatorRole } from "#lib/contract/status.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { transition } from "#server/postgres/Database.ts";
import { secretDigest } from "./secrets.ts";

export const OperatorRow = Schema.Struct({
  tenantId: TenantId,
  operatorId: OperatorId,
  name: Schema.String,
  email: Schema.String,
  role: OperatorRole,
});
export type OperatorRow = typeof OperatorRow.Type;

/** Columns of `operators AS o`. */
export const operatorColumns = `
  o.tenant_id AS "tenantId", o.operator_id AS "operatorId", o.name, o.email, o.role`;

const decode = decodeRows(OperatorRow);

/** The operator of a bearer token that is neither revoked nor past its time; undefined otherwise. */
export const operatorOfBearer = (token: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    transition(
      "operatorOfBearer",
      decode(sql`
        SELECT ${sql.literal(operatorColumns)}
        FROM bearer_tokens b JOIN operators o
          ON o.tenant_id = b.tenant_id AND o.operator_id = b.operator_id
        WHERE b.token_digest = ${secretDigest(token)} AND b.revoked_at IS NULL
          AND (b.expires_at IS NULL OR b.expires_at > clock_timestamp()) AND o.disabled_at IS NULL`),
    ),
  ).pipe(Effect.map((rows) => rows[0]));

/** The operator of a sign-in that has not ended; notes at most once a minute that it was seen. */
export const operatorOfSignIn = (secret: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    transition(
      "operatorOfSignIn",
      decode(sql`
        WITH found AS (
          SELECT tenant_id, session_digest, operator_id FROM sign_in_sessions
          WHERE session_digest = ${secretDigest(secret)} AND ended_at IS NULL
            AND expires_at > clock_timestamp()
        ), seen AS (
          UPDATE sign_in_sessions s SET seen_at = clock_timestamp() FROM found f
          WHERE s.tenant_id = f.tenant_id AND s.session_digest = f.session_digest
            AND s.seen_at < clock_timestamp() - interval '1 minute'
        )
        SELECT ${sql.literal(operatorColumns)} FROM found f JOIN operators o
          ON o.tenant_id = f.tenant_id AND o.operator_id = f.operator_id
        WHERE o.disabled_at IS NULL`),
    ),
  ).pipe(Effect.map((rows) => rows[0]));
