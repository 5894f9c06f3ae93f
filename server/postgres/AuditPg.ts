/** The audit log: append-only, one hash chain per tenant, accepted and refused acts alike (A-10, OP-09). */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { Digest } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { StoreError } from "#lib/durable/StoreError.ts";
import { auditDigest, type AuditEntry } from "#server/postgres/audit-chain.ts";
import { columnText, Int8, Millis } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";

const Tail = Schema.Struct({ sequence: Int8, digest: Digest, at: Millis });

const textOrNull = (value: AuditEntry["before"]) => (value === null ? null : canonicalJson(value));

/** What is digested is what is stored: text is made storable before both. */
const storable = (entry: AuditEntry): AuditEntry => ({
  ...entry,
  actor: { ...entry.actor, id: columnText(entry.actor.id), name: columnText(entry.actor.name) },
  target: columnText(entry.target),
  reason: columnText(entry.reason),
});

export class Audit extends Context.Service<
  Audit,
  {
    /**
     * Writes one row, in the caller's transaction when there is one. It locks the
     * tenant's tail until that transaction ends: call it last.
     */
    readonly append: (
      entry: AuditEntry,
    ) => Effect.Effect<{ readonly sequence: number }, StoreError>;
  }
>()("effect-agent/postgres/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function* () {
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
        const entry = storable(unchecked);
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

      return Audit.of({
        append: (entry) =>
          transaction("Audit.append", write(entry)).pipe(
            Effect.provideService(SqlClient.SqlClient, sql),
            Effect.withSpan("Audit.append"),
          ),
      });
    }),
  );
}
