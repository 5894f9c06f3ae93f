/** A server whose administrator has not made the role of tenants: commands still work, and the start says what is missing. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Effect, Layer, Logger, Redacted } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { assert, it } from "vitest";
import { TenantId } from "#lib/contract/ids.ts";
import { applyMigrations } from "#server/launch/migrations.ts";
import * as Database from "#server/postgres/Database.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { ensureTenantRole } from "#server/postgres/tenant-role.ts";
import { actForTenant } from "#server/views/snapshot.ts";

const whoActs = Database.transaction(
  "test",
  Effect.andThen(
    actForTenant(TenantId.make("acme")),
    Effect.flatMap(SqlClient, (sql) => sql`SELECT current_user AS name`),
  ),
);

it("[PG-05] without the role commands run as the owner and one line says what to run; once it is run, the next start binds them", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-role-"));
  // The server may run as another user than the test does.
  chmodSync(folder, 0o755);
  const said: Array<string> = [];
  const listening = Layer.succeed(
    Logger.CurrentLoggers,
    new Set([Logger.make<unknown, void>(({ message }) => void said.push(String(message)))]),
  );
  await Effect.gen(function* () {
    const server = yield* start({ folder, name: "effect_agent" });
    yield* applyMigrations(Redacted.make(server.url));
    const adminUrl = new URL(server.adminUrl);
    adminUrl.pathname = new URL(server.url).pathname;
    const asAdmin = (...statements: ReadonlyArray<string>) =>
      Effect.flatMap(SqlClient, (sql) =>
        Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true }),
      ).pipe(
        Effect.provide(
          Layer.fresh(
            Database.layer({ url: Redacted.make(adminUrl.toString()), maxConnections: 1 }),
          ),
        ),
      );
    const asOwner = <A, E>(effect: Effect.Effect<A, E, SqlClient>) =>
      effect.pipe(
        Effect.provide(
          Layer.fresh(Database.layer({ url: Redacted.make(server.url), maxConnections: 1 })),
        ),
      );
    yield* asAdmin("DROP OWNED BY effect_agent_tenant", "DROP ROLE effect_agent_tenant");
    yield* asOwner(ensureTenantRole);
    assert.deepStrictEqual(yield* asOwner(whoActs), [{ name: "effect_agent" }]);
    assert.strictEqual(said.length, 1);
    const told = /run as an administrator of the database: (.*); and start again\.$/.exec(
      said[0] ?? "",
    );
    assert.isNotNull(told);
    // What the line says is what an administrator runs.
    yield* asAdmin(...(told?.[1] ?? "").split("; "));
    yield* asOwner(ensureTenantRole);
    assert.deepStrictEqual(yield* asOwner(whoActs), [{ name: "effect_agent_tenant" }]);
    assert.strictEqual(said.length, 1);
  }).pipe(Effect.scoped, Effect.provide(listening), Effect.runPromise);
  rmSync(folder, { recursive: true, force: true });
});
