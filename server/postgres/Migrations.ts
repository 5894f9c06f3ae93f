/**
 * Brings a database to this code's schema: every `migrations/*.sql` in order, the
 * missing ones in one transaction, one process at a time. A database that is
 * ahead of this code is refused before anything is changed (PG-07).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Migrator from "effect/unstable/sql/Migrator";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import type { SqlError } from "effect/unstable/sql/SqlError";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { packageRoot } from "#server/package-root.ts";

/** The table in which applied migrations are listed. */
export const migrationsTable = "effect_sql_migrations";

/** The database was migrated by a later version: this one would misread it, so it does not start. */
export class DatabaseTooNew extends Schema.TaggedError<DatabaseTooNew>()("DatabaseTooNew", {
  databaseMigration: Schema.String,
  newestKnown: Schema.String,
}) {
  override get message() {
    return `The database has migration ${this.databaseMigration}, but the newest this version knows is ${this.newestKnown}. Start a version that knows it, or restore a backup from before it; nothing was changed.`;
  }
}

/** The applied migrations are not the first ones of this code's list. */
export class MigrationsDiverged extends Schema.TaggedError<MigrationsDiverged>()(
  "MigrationsDiverged",
  {
    expected: Schema.String,
    found: Schema.String,
  },
) {
  override get message() {
    return `Where this version expects migration ${this.expected}, the database has ${this.found}: it belongs to another version of this software. Nothing was changed.`;
  }
}

/** The folder of migrations is missing or holds a file with a wrong name. */
export class MigrationsUnreadable extends Schema.TaggedError<MigrationsUnreadable>()(
  "MigrationsUnreadable",
  { message: Schema.String },
) {}

export type MigrationFailure =
  | DatabaseTooNew
  | MigrationsDiverged
  | MigrationsUnreadable
  | Migrator.MigrationError
  | SqlError
  | Schema.SchemaError;

export interface MigrationFile {
  readonly id: number;
  /** As listed, for example `0003_journal`. */
  readonly name: string;
  readonly sql: string;
}

/** Reads and orders the files of a folder; two of one number are refused. */
export const readMigrations = (
  folder = path.join(packageRoot, "migrations"),
): Effect.Effect<ReadonlyArray<MigrationFile>, MigrationsUnreadable> =>
  Effect.suspend(() => {
    if (!existsSync(folder)) {
      return Effect.fail(
        new MigrationsUnreadable({ message: `The folder of migrations is missing: ${folder}.` }),
      );
    }
    const files: Array<MigrationFile> = [];
    for (const file of readdirSync(folder).toSorted()) {
      if (!file.endsWith(".sql")) continue;
      const id = /^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1];
      if (id === undefined) {
        return Effect.fail(
          new MigrationsUnreadable({ message: `${file} is not named like 0001_operators.sql.` }),
        );
      }
      if (files.at(-1)?.id === Number(id)) {
        return Effect.fail(
          new MigrationsUnreadable({ message: `Two migrations have the number ${id}.` }),
        );
      }
      files.push({
        id: Number(id),
        name: file.slice(0, -".sql".length),
        sql: readFileSync(path.join(folder, file), "utf8"),
      });
    }
    return Effect.succeed(files);
  });

/** Compares what is applied with what is known; the answer is the fault, if there is one. */
export const compareMigrations = (
  known: ReadonlyArray<{ readonly id: number; readonly name: string }>,
  applied: ReadonlyArray<{ readonly id: number; readonly name: string }>,
): DatabaseTooNew | MigrationsDiverged | undefined => {
  const newest = known.at(-1);
  for (const [place, row] of applied.entries()) {
    if (newest === undefined || row.id > newest.id) {
      return new DatabaseTooNew({
        databaseMigration: row.name,
        newestKnown: newest?.name ?? "none",
      });
    }
    const expected = known[place];
    if (expected === undefined || expected.id !== row.id || expected.name !== row.name) {
      return new MigrationsDiverged({ expected: expected?.name ?? "none", found: row.name });
    }
  }
  return undefined;
};

/** The wire protocol takes one statement at a time; a DO block takes the whole file. */
const asOneStatement = (sql: string): string => {
  let tag = "$migration$";
  while (sql.includes(tag)) tag = `${tag.slice(0, -1)}x$`;
  const block = `${tag.slice(0, -1)}_block$`;
  return `DO ${block} BEGIN EXECUTE ${tag}${sql}${tag}; END ${block}`;
};

const AppliedRow = Schema.Struct({ migration_id: Schema.Int, name: Schema.String });

const migrate = Migrator.make({});

/** Names of the advisory locks; any constants will do. */
const creationLock = 7_207_411;
const schemaLock = 7_207_412;

/**
 * To the end of the transaction no migration is applied. It holds up nobody who only starts or reads: a lock
 * of the list itself would, since whoever migrates takes that one whole.
 */
export const holdSchema = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT pg_advisory_xact_lock_shared(${schemaLock})`,
);

/** Waits for whoever holds the schema as long as that takes; the migrations themselves are as impatient as the rest. */
const takeSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [before] = yield* sql<{ lock: string; statement: string }>`
    SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement`;
  yield* sql`SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`;
  yield* sql`SELECT pg_advisory_xact_lock(${schemaLock})`;
  yield* sql`SELECT set_config('lock_timeout', ${before?.lock ?? "0"}, true),
    set_config('statement_timeout', ${before?.statement ?? "0"}, true)`;
});

/**
 * Applies what is missing and tells what it applied. Processes that start
 * together take turns; the later ones find nothing to do.
 */
export const run = Effect.fn("Migrations.run")(function* (folder?: string) {
  const sql = yield* SqlClient.SqlClient;
  const known = yield* readMigrations(folder);
  const listApplied = SqlSchema.findAll({
    Request: Schema.Void,
    Result: AppliedRow,
    execute: () =>
      sql`SELECT migration_id, name FROM ${sql(migrationsTable)} ORDER BY migration_id`,
  });
  /** How many are applied. */
  const refuseIfUnknown = Effect.flatMap(listApplied(), (applied) => {
    const fault = compareMigrations(
      known,
      applied.map((row) => ({
        id: row.migration_id,
        name: `${String(row.migration_id).padStart(4, "0")}_${row.name}`,
      })),
    );
    return fault === undefined ? Effect.succeed(applied.length) : Effect.fail(fault);
  });
  // Two processes that create the list at once would collide in the catalogue.
  yield* sql.withTransaction(
    Effect.andThen(
      sql`SELECT pg_advisory_xact_lock(${creationLock})`,
      sql`CREATE TABLE IF NOT EXISTS ${sql(migrationsTable)} (
        migration_id integer PRIMARY KEY,
        created_at timestamptz NOT NULL DEFAULT now(),
        name text NOT NULL
      )`,
    ),
  );
  // Whoever has nothing to apply takes no lock, which another may hold for long.
  if ((yield* refuseIfUnknown) === known.length) return [];
  const missing = migrate({
    table: migrationsTable,
    loader: Migrator.fromRecord(
      Object.fromEntries(
        known.map((file) => [
          file.name,
          Effect.asVoid(sql.unsafe(asOneStatement(file.sql)).unprepared),
        ]),
      ),
    ),
  });
  const applied = yield* sql.withTransaction(Effect.andThen(takeSchema, missing));
  // A newer version may have migrated between the first look and the lock.
  yield* refuseIfUnknown;
  return applied.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`);
});

/** Migrates when it is built. */
export const layer: Layer.Layer<never, MigrationFailure, SqlClient.SqlClient> =
  Layer.effectDiscard(run());
