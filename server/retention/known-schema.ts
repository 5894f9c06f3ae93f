/**
 * A host of an older release beside newer ones must not take runs out: what came since
 * has tables that it neither archives nor removes, and it would leave them behind.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { holdSchema, migrationsTable } from "#server/postgres/Migrations.ts";

/**
 * The newest migration that retention was looked over for: what of it belongs to a run stands in
 * `remove-segment.ts`, `read-segment.ts` and `write-back.ts`. A number in the code, since the files of a
 * release may be replaced under a process that still runs.
 */
export const knownMigration = 32;

export class RetentionOutdated extends Schema.TaggedError<RetentionOutdated>()(
  "RetentionOutdated",
  { applied: Schema.Int },
) {
  override get message() {
    return `The database has migration ${this.applied}, and this release's retention knows those up to ${knownMigration}: it takes nothing out. Let a host of the newer release do it.`;
  }
}

const Newest = Schema.Tuple([Schema.Struct({ applied: Schema.Int })]);

/** Fails when a later release has migrated this database. */
export const refuseLaterSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [{ applied }] = yield* Effect.flatMap(
    sql`SELECT coalesce(max(migration_id), 0)::int AS applied FROM ${sql(migrationsTable)}`,
    Schema.decodeUnknownEffect(Newest),
  );
  if (applied > knownMigration) return yield* new RetentionOutdated({ applied });
});

/** The same, and none is applied before the transaction ends. */
export const holdKnownSchema = Effect.andThen(holdSchema, refuseLaterSchema);
