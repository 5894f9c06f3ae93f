import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as Database from "#server/postgres/Database.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { rows, started, store, TestUrl } from "#tests/postgres/store.ts";

/** The same database as a superuser, who may make roles. */
const asSuperuser = <A, E>(body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const url = new URL(process.env["EFFECT_AGENT_TEST_ADMIN_URL"] ?? "");
    url.pathname = new URL(yield* TestUrl).pathname;
    return yield* Effect.provide(
      body,
      Layer.fresh(Database.layer({ url: Redacted.make(url.toString()), maxConnections: 1 })),
    );
  });

class RolledBack {
  readonly _tag = "RolledBack";
}

/** Runs as a role that is only granted the tables; the role goes with the transaction. */
const asApplication = <A, E>(body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  asSuperuser(
    Effect.flatMap(SqlClient.SqlClient, (sql) => {
      let answer: A | undefined;
      return sql
        .withTransaction(
          Effect.gen(function* () {
            const role = sql(`app_${process.pid}`);
            yield* sql`CREATE ROLE ${role}`;
            yield* sql`GRANT USAGE ON SCHEMA public TO ${role}`;
            yield* sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`;
            yield* sql`SET LOCAL ROLE ${role}`;
            answer = yield* body;
            return yield* Effect.fail(new RolledBack());
          }),
        )
        .pipe(
          Effect.catchIf(
            (error) => error instanceof RolledBack,
            () => Effect.void,
          ),
          Effect.map(() => answer),
        );
    }),
  );

const tenantTables = `SELECT c.relname AS name, c.relrowsecurity AS secured,
    EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) AS policy
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1`;

layer(store, { excludeTestServices: true })("tenants on Postgres", (it) => {
  it.effect("[PG-05] every table with a tenant has it first in its key, and a policy", () =>
    Effect.gen(function* () {
      const tables = yield* rows(tenantTables);
      assert.isAbove(tables.length, 22);
      assert.deepStrictEqual(
        tables.filter((table) => !(table["secured"] && table["policy"])),
        [],
      );
      const keys = yield* rows(
        `SELECT c.relname AS name, a.attname AS first FROM pg_index i
         JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
         WHERE i.indisprimary AND c.relnamespace = 'public'::regnamespace
           AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'tenant_id')`,
      );
      assert.strictEqual(keys.length, tables.length);
      assert.deepStrictEqual(
        keys.filter((key) => key["first"] !== "tenant_id"),
        [],
      );
    }),
  );

  it.effect(
    "[PG-05][C042] a role that owns no table reads and writes the rows of the named tenant only",
    () =>
      Effect.gen(function* () {
        for (const tenant of ["acme", "other"]) {
          const { place, writer } = yield* started({ tenant });
          yield* writer.append([recordsOf(place).opened(), recordsOf(place).turn(["c1"])]);
        }
        const seen = yield* asApplication(
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient;
            const tenantsIn = (table: string) =>
              Effect.map(sql`SELECT DISTINCT tenant_id FROM ${sql(table)}`, (found) =>
                found.map((row) => row["tenant_id"]),
              );
            const names = (yield* rows(tenantTables)).map((row) => String(row["name"]));
            const unnamed = yield* Effect.forEach(names, tenantsIn);
            yield* sql`SELECT set_config('effect_agent.tenant', 'acme', true)`;
            const named = yield* Effect.forEach(
              ["runs", "threads", "journal_records", "tool_calls"],
              tenantsIn,
            );
            const touched =
              yield* sql`UPDATE runs SET title = 'mine' WHERE tenant_id = 'other' RETURNING run_id`;
            const smuggled = yield* Effect.exit(
              sql.withTransaction(sql`INSERT INTO tenants (tenant_id, name) VALUES ('other', 'x')`),
            );
            return { unnamed, named, touched, smuggled: smuggled._tag };
          }),
        );
        assert.deepStrictEqual(new Set(seen?.unnamed.flat()), new Set());
        assert.deepStrictEqual(seen?.named, [["acme"], ["acme"], ["acme"], ["acme"]]);
        assert.deepStrictEqual(seen?.touched, []);
        assert.strictEqual(seen?.smuggled, "Failure");
      }),
  );
});
