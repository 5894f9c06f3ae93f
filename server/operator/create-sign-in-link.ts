/** A link that signs one operator in once, within 24 hours; the server keeps only its digest. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { CreateSignInLink, SignInLink } from "#lib/contract/http/sign-in-commands.ts";
import { EpochMillis, OperatorId, type TenantId } from "#lib/contract/ids.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { columnName } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";
import { millis } from "#server/views/columns.ts";
import { notFound } from "#server/views/require-run.ts";
import { actForTenant, decodeRows, orStoreUnavailable } from "#server/views/snapshot.ts";
import { actorOf, type Operator, refuse, requireRole } from "./run-command.ts";
import { newId, newSecret, secretDigest } from "./secrets.ts";

export const linkHours = 24;

const Expiring = Schema.Struct({ expiresAt: EpochMillis });

/** The token stands behind `#`, which browsers never send: no server and no proxy logs it. */
const pathOf = (token: string): string => `/sign-in#token=${token}`;

/** Writes the link in the caller's transaction. */
export const writeLink = (tenantId: TenantId, operatorId: OperatorId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const token = yield* newSecret("eal");
    const rows = yield* decodeRows(Expiring)(sql`
      INSERT INTO sign_in_links (tenant_id, link_digest, operator_id, expires_at)
      VALUES (${tenantId}, ${secretDigest(token)}, ${operatorId},
        clock_timestamp() + ${linkHours}::int4 * interval '1 hour')
      RETURNING ${sql.literal(millis("expires_at"))} AS "expiresAt"`);
    const expiresAt = rows[0]?.expiresAt ?? 0;
    const link: SignInLink = { operatorId, token, path: pathOf(token), expiresAt };
    return link;
  });

const OperatorIdRow = Schema.Struct({ operatorId: OperatorId, disabled: Schema.Boolean });

/** The operator with this address, made when there is none; an existing one keeps name and role. */
const findOrMake = (tenantId: TenantId, command: CreateSignInLink) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const newOperatorId = yield* newId("opr");
    const rows = yield* decodeRows(OperatorIdRow)(sql`
      INSERT INTO operators AS o (tenant_id, operator_id, name, email, role)
      VALUES (${tenantId}, ${newOperatorId}, ${columnName(command.name)}, ${columnName(command.email)}, ${command.role})
      ON CONFLICT (tenant_id, lower(email)) DO UPDATE SET email = o.email
      RETURNING o.operator_id AS "operatorId", o.disabled_at IS NOT NULL AS disabled`);
    const found = rows[0];
    if (found === undefined || found.disabled) return yield* notFound("operator");
    return found.operatorId;
  });

export const createSignInLink = Effect.fn("operator.createSignInLink")(function* (
  operator: Operator,
  command: CreateSignInLink,
) {
  const about = {
    operator,
    act: "create-sign-in-link",
    target: command.email,
    commandId: null,
  } as const;
  yield* requireRole(about);
  const change = Effect.gen(function* () {
    yield* actForTenant(operator.tenantId);
    const operatorId = yield* findOrMake(operator.tenantId, command);
    const link = yield* writeLink(operator.tenantId, operatorId);
    yield* (yield* Audit).append({
      tenantId: operator.tenantId,
      actor: actorOf(operator),
      verb: about.act,
      target: operatorId,
      runId: null,
      accepted: true,
      reason: "",
      before: null,
      after: { email: command.email, expiresAt: link.expiresAt },
      commandId: null,
    });
    return link;
  });
  return yield* transaction("create-sign-in-link", change).pipe(
    Effect.catchTag("NotFound", (error) => refuse(about, error)),
    orStoreUnavailable,
  );
});
