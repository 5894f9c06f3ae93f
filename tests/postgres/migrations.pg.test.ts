import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { assert, describe, it } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as Database from "#server/postgres/Database.ts";
import * as Migrations from "#server/postgres/Migrations.ts";
import { holdKnownSchema } from "#server/retention/known-schema.ts";
import { database, TestUrl } from "#tests/postgres/store.ts";

/** A database without any table of ours, whatever the template holds. */
const emptied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`DROP SCHEMA public CASCADE`;
  yield* sql`DROP SCHEMA IF EXISTS retail CASCADE`;
  yield* sql`DROP SCHEMA IF EXISTS provider CASCADE`;
  yield* sql`CREATE SCHEMA public`;
});

const processOf = (url: string) =>
  Layer.fresh(Database.layer({ url: Redacted.make(url), maxConnections: 2 }));

const inDatabase = <A, E>(body: (url: string) => Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const url = yield* TestUrl;
    return yield* Effect.andThen(emptied, body(url)).pipe(Effect.provide(processOf(url)));
  }).pipe(Effect.provide(Layer.fresh(database)));

const folderOf = (files: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(path.join(os.tmpdir(), "migrations-"));
      for (const [name, sql] of Object.entries(files)) writeFileSync(path.join(folder, name), sql);
      return folder;
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
  );

const tables = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'public'`,
);

describe("migrations", () => {
  it.live("[PG-07] processes that start together migrate an empty database once", () =>
    inDatabase((url) =>
      Effect.gen(function* () {
        const applied = yield* Effect.forEach(
          Array.from({ length: 3 }),
          () => Migrations.run().pipe(Effect.provide(processOf(url))),
          { concurrency: 3 },
        );
        const known = (yield* Migrations.readMigrations()).map((file) => file.name);
        assert.deepStrictEqual(
          applied.toSorted((a, b) => b.length - a.length),
          [known, [], []],
        );
        assert.deepStrictEqual(yield* Migrations.run(), []);
        assert.include(known, "0009_tenant_policies");
      }),
    ),
  );

  it.live("[PG-07] a database of a later version is refused and left as it was", () =>
    inDatabase(() =>
      Effect.gen(function* () {
        const later = yield* folderOf({
          "0001_one.sql": "CREATE TABLE one (id integer);",
          "0002_two.sql": "CREATE TABLE two (id integer);",
        });
        const earlier = yield* folderOf({ "0001_one.sql": "CREATE TABLE one (id integer);" });
        yield* Migrations.run(later);
        const before = yield* tables;
        const error = yield* Effect.flip(Migrations.run(earlier));
        assert.isTrue(error._tag === "DatabaseTooNew" && error.databaseMigration === "0002_two");
        assert.include(error.message, "0001_one");
        const other = yield* folderOf({
          "0001_other.sql": "CREATE TABLE other (id integer);",
          "0002_two.sql": "SELECT 1;",
        });
        const diverged = yield* Effect.flip(Migrations.run(other));
        assert.strictEqual(diverged._tag, "MigrationsDiverged");
        const late = yield* folderOf({
          "0001_one.sql": "SELECT 1;",
          "0002_between.sql": "CREATE TABLE between_ (id integer);",
          "0003_two.sql": "SELECT 1;",
        });
        assert.strictEqual((yield* Effect.flip(Migrations.run(late)))._tag, "MigrationsDiverged");
        assert.deepStrictEqual(yield* tables, before);
      }).pipe(Effect.scoped),
    ),
  );

  it.live("[PG-07] a set that fails in the middle leaves nothing of itself", () =>
    inDatabase(() =>
      Effect.gen(function* () {
        const broken = yield* folderOf({
          "0001_one.sql": "CREATE TABLE one (id integer); -- $migration$ in a comment\n",
          "0002_two.sql": "CREATE TABLE two (id integer); SELECT no_such_function();",
        });
        const exit = yield* Effect.exit(Migrations.run(broken));
        assert.isTrue(exit._tag === "Failure");
        const [count] = yield* tables;
        // Only the list of migrations itself.
        assert.strictEqual(count?.["n"], 1);
        const mended = yield* folderOf({
          "0001_one.sql": "CREATE TABLE one (id integer); -- $migration$ in a comment\n",
          "0002_two.sql": "CREATE TABLE two (id integer);",
        });
        assert.deepStrictEqual(yield* Migrations.run(mended), ["0001_one", "0002_two"]);
      }).pipe(Effect.scoped),
    ),
  );

  it.live(
    "[PG-07] a host starts while another holds the list of migrations for long, and a migration waits for it",
    () =>
      inDatabase((url) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient;
          const one = { "0001_one.sql": "CREATE TABLE one (id integer);" };
          const [earlier, later] = [
            yield* folderOf(one),
            yield* folderOf({ ...one, "0002_two.sql": "CREATE TABLE two (id integer);" }),
          ];
          yield* Migrations.run(earlier);
          // Far less patient than a host, as a pass of retention may hold the list for longer than a host is.
          const starting = Database.layer({
            url: Redacted.make(url),
            maxConnections: 1,
            lockTimeoutMillis: 50,
            statementTimeoutMillis: 200,
          });
          const start = (folder: string) =>
            Migrations.run(folder).pipe(Effect.provide(Layer.fresh(starting)));
          const migrating = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* holdKnownSchema;
              assert.deepStrictEqual(yield* start(earlier), []);
              const migrating = yield* Effect.forkScoped(start(later));
              yield* Effect.sleep("1 second");
              assert.deepStrictEqual(yield* start(earlier), []);
              return migrating;
            }),
          );
          assert.deepStrictEqual(yield* Fiber.join(migrating), ["0002_two"]);
          // A migration itself is as impatient as before.
          const patience = yield* folderOf({
            ...one,
            "0002_two.sql": "CREATE TABLE two (id integer);",
            "0003_three.sql":
              "CREATE TABLE three AS SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement;",
          });
          yield* start(patience);
          assert.deepStrictEqual(yield* sql`SELECT * FROM three`, [
            { lock: "50ms", statement: "200ms" },
          ]);
        }).pipe(Effect.scoped),
      ),
  );

  it.live("a folder with two files of one number, or a file with a wrong name, is refused", () =>
    Effect.gen(function* () {
      const twice = yield* folderOf({ "0001_one.sql": "", "0001_other.sql": "" });
      const wrong = yield* folderOf({ "1_one.sql": "" });
      for (const folder of [twice, wrong, "/nowhere"]) {
        const error = yield* Effect.flip(Migrations.readMigrations(folder));
        assert.strictEqual(error._tag, "MigrationsUnreadable");
      }
    }).pipe(Effect.scoped),
  );
});
