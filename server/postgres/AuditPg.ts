/** `Audit` on PostgreSQL: one hash chain per tenant behind a row lock on its tail. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { Audit } from "#lib/durable/Audit.ts";
import {
  auditDigest,
  type AuditEntry,
  type StoredAuditEntry,
  storableEntry,
} from "#lib/durable/audit-chain.ts";
import { Digest } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { Actor } from "#lib/contract/records.ts";
import { Int8, JsonText, Millis } from "#server/postgres/columns.ts";
import { transaction, transition } from "#server/postgres/Database.ts";

const Tail = Schema.Struct({ sequence: Int8, digest: Digest, at: Millis });

const JsonColumn = Schema.NullOr(JsonText(Schema.Json));
const Row = Schema.Struct({
  sequence: Int8,
  at: Millis,
  actor_kind: Actor.fields.kind,
  actor_id: Schema.String,
  actor_name: Schema.String,
  verb: Schema.String,
  target: Schema.String,
  run_id: Schema.NullOr(Schema.String),
  accepted: Schema.Boolean,
  reason: Schema.String,
  before: JsonColumn,
  after: JsonColumn,
  command_id: Schema.NullOr(Schema.String),
  digest: Digest,
  previous_digest: Digest,
});

const entryOf = (tenantId: string, row: typeof Row.Type): StoredAuditEntry => ({
  tenantId,
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
  verb: row.verb,
  target: row.target,
  runId: row.run_id,
  accepted: row.accepted,
  reason: row.reason,
  before: row.before,
  after: row.after,
  commandId: row.command_id,
  sequence: row.sequence,
  at: row.at,
  digest: row.digest,
  previousDigest: row.previous_digest,
});

const textOrNull = (value: AuditEntry["before"]) => (value === null ? null : canonicalJson(value));

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  const lockTail = SqlSchema.findOne({
    Request: Schema.String,
    Result: Tail,
    execute: (tenantId) =>
      sql`INSERT INTO audit_tails AS t (tenant_id) VALUES (${tenantId})
        ON CONFLICT (tenant_id) DO UPDATE SET sequence = t.sequence
        RETURNING t.sequence, t.digest, date_trunc('milliseconds', clock_timestamp()) AS at`,
  });

  const write = Effect.fnUntraced(function* (unchecked: AuditEntry) {
    const entry = storableEntry(unchecked);
    const tail = yield* Effect.orDie(lockTail(entry.tenantId));
    const place = {
      sequence: tail.sequence + 1,
      at: tail.at,
      previousDigest: tail.digest,
    };
    const digest = auditDigest(entry, place);
    yield* sql`WITH moved AS (
        UPDATE audit_tails SET sequence = ${place.sequence}, digest = ${digest}
        WHERE tenant_id = ${entry.tenantId}
      )
      INSERT INTO audit_log (tenant_id, sequence, at, actor_kind, actor_id, actor_name, verb, target,
        run_id, accepted, reason, before, after, command_id, digest, previous_digest)
      VALUES (${entry.tenantId}, ${place.sequence}, from_millis(${place.at}), ${entry.actor.kind},
        ${entry.actor.id}, ${entry.actor.name}, ${entry.verb}, ${entry.target}, ${entry.runId},
        ${entry.accepted}, ${entry.reason}, ${textOrNull(entry.before)}, ${textOrNull(entry.after)},
        ${entry.commandId}, ${digest}, ${place.previousDigest})`;
    return { sequence: place.sequence };
  });

  const select = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, after: Schema.Int, limit: Schema.Int }),
    Result: Row,
    execute: ({ tenantId, after, limit }) =>
      sql`SELECT sequence, at, actor_kind, actor_id, actor_name, verb, target, run_id, accepted, reason,
          before, after, command_id, digest, previous_digest
        FROM audit_log WHERE tenant_id = ${tenantId} AND sequence > ${after}
        ORDER BY sequence LIMIT ${limit}`,
  });

  return Audit.of({
    append: (entry) =>
      transaction("Audit.append", write(entry)).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.withSpan("Audit.append"),
      ),
    read: Effect.fn("Audit.read")((request: Parameters<Audit["Service"]["read"]>[0]) =>
      transition(
        "Audit.read",
        select({ ...request, limit: Math.min(Math.max(request.limit, 1), 1_000) }),
      ).pipe(Effect.map((rows) => rows.map((row) => entryOf(request.tenantId, row)))),
    ),
  });
});

/** `Audit` on the pool's database. */
export const layer = Layer.effect(Audit, make);
