/** The first tenant, its first administrator and a way in: run at every start, it changes nothing twice. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Redacted from "effect/Redacted";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { OperatorId, TenantId } from "#lib/contract/ids.ts";
import { transaction } from "#server/postgres/Database.ts";
import { actForTenant, decodeRows } from "#server/views/snapshot.ts";
import { writeLink } from "./create-sign-in-link.ts";
import { secretDigest } from "./secrets.ts";

/** An installation serves one tenant until somebody makes more. */
export const firstTenantId = TenantId.make("default");
export const firstOperatorId = OperatorId.make("opr_administrator");

const Entered = Schema.Struct({ entered: Schema.Boolean });

const writeFirstRows = Effect.gen(function* () {
  const sql = yield* SqlClient;
  yield* sql`
    INSERT INTO tenants (tenant_id, name) VALUES (${firstTenantId}, 'Default') ON CONFLICT DO NOTHING`;
  yield* sql`
    INSERT INTO operators (tenant_id, operator_id, name, email, role)
    VALUES (${firstTenantId}, ${firstOperatorId}, 'Administrator', 'admin@localhost', 'admin')
    ON CONFLICT DO NOTHING`;
});

/** The token of the environment is the only one of its name: a changed one replaces it, none revokes it. */
const writeAdminToken = (token: Option.Option<Redacted.Redacted<string>>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const digest = Option.map(token, (secret) => secretDigest(Redacted.value(secret)));
    yield* Option.match(digest, {
      onNone: () => sql`
        UPDATE bearer_tokens SET revoked_at = clock_timestamp()
        WHERE tenant_id = ${firstTenantId} AND token_id = 'tok_environment' AND revoked_at IS NULL`,
      onSome: (tokenDigest) => sql`
        INSERT INTO bearer_tokens (tenant_id, token_id, token_digest, operator_id, name)
        VALUES (${firstTenantId}, 'tok_environment', ${tokenDigest}, ${firstOperatorId}, 'ADMIN_TOKEN')
        ON CONFLICT (tenant_id, token_id) DO UPDATE SET token_digest = excluded.token_digest, revoked_at = NULL`,
    });
  });

/** Whether anybody has ever signed in, or could with a password. */
const hasEntered = Effect.gen(function* () {
  const sql = yield* SqlClient;
  const rows = yield* decodeRows(Entered)(sql`
    SELECT EXISTS (SELECT FROM sign_in_sessions WHERE tenant_id = ${firstTenantId})
      OR EXISTS (SELECT FROM operators WHERE tenant_id = ${firstTenantId} AND password_hash IS NOT NULL)
      AS entered`);
  return rows[0]?.entered ?? false;
});

/**
 * Gives the link to print, with the path on the console's own origin, as long as
 * nobody has signed in and no administrator's token is set; earlier links stay
 * good until they are used or 24 hours old.
 */
export const seedInstallation = Effect.fn("operator.seedInstallation")(function* (
  adminToken: Option.Option<Redacted.Redacted<string>>,
) {
  return yield* transaction(
    "seed-installation",
    Effect.gen(function* () {
      yield* actForTenant(firstTenantId);
      yield* writeFirstRows;
      yield* writeAdminToken(adminToken);
      if (Option.isSome(adminToken) || (yield* hasEntered)) return Option.none();
      return Option.some(yield* writeLink(firstTenantId, firstOperatorId));
    }),
  );
});
