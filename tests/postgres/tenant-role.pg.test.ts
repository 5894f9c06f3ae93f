/** Commands under the database's own row policies, on the role that the embedded server makes. */
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { TenantId } from "#lib/contract/ids.ts";
import * as Database from "#server/postgres/Database.ts";
import { ensureTenantRole } from "#server/postgres/tenant-role.ts";
import { actForTenant } from "#server/views/snapshot.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { rows, started, store } from "#tests/postgres/store.ts";

const inTenant = <A, E, R>(tenant: string, body: Effect.Effect<A, E, R>) =>
  Database.transaction("test", Effect.andThen(actForTenant(TenantId.make(tenant)), body));

layer(store, { excludeTestServices: true })("the role of tenants", (it) => {
  it.effect(
    "[PG-05] a command sees and changes rows of its own tenant only, whatever it asks for",
    () =>
      Effect.gen(function* () {
        const acme = yield* started({ tenant: "acme" });
        const rival = yield* started({ tenant: "rival" });
        for (const { place, writer } of [acme, rival])
          yield* writer.append([recordsOf(place).opened(), recordsOf(place).attempt()]);
        const seen = yield* inTenant(
          "acme",
          Effect.gen(function* () {
            const tenants = yield* rows("SELECT DISTINCT tenant_id FROM runs");
            const changed = yield* rows("UPDATE runs SET title = 'mine' RETURNING tenant_id");
            const [role] = yield* rows("SELECT current_user AS name");
            return { tenants, changed, role: role?.["name"] };
          }),
        );
        assert.deepStrictEqual(seen, {
          tenants: [{ tenant_id: "acme" }],
          changed: [{ tenant_id: "acme" }],
          role: "effect_agent_tenant",
        });
        const planted = yield* Effect.flip(
          inTenant(
            "acme",
            rows(
              `INSERT INTO abort_requests (tenant_id, run_id, thread_id, actor_kind, actor_id, actor_name, reason)
             VALUES ('rival', $1, $2, 'operator', 'x', 'X', '')`,
              [rival.place.runId, rival.place.threadId],
            ),
          ),
        );
        assert.include(planted.message, "row-level security");
        const [after] = yield* rows("SELECT current_user AS name, count(*)::int AS runs FROM runs");
        assert.notStrictEqual(after?.["name"], "effect_agent_tenant");
        assert.strictEqual(after?.["runs"], 2);
      }),
  );

  it.effect(
    "[PG-05] [OP-09] no command can change or remove a journal record, a text kept beside one or an audit row",
    () =>
      Effect.gen(function* () {
        for (const statement of [
          "UPDATE journal_records SET body = '{}'",
          "DELETE FROM journal_records",
          "UPDATE kept_results SET body = ''",
          "DELETE FROM kept_results",
          "UPDATE audit_log SET reason = ''",
          "DELETE FROM audit_log",
          "TRUNCATE audit_log",
        ]) {
          const error = yield* Effect.flip(inTenant("acme", rows(statement)));
          assert.include(error.message, "permission denied", statement);
        }
      }),
  );

  it.effect(
    "[PG-05] tables of later migrations are granted by themselves, and a start changes nothing",
    () =>
      Effect.gen(function* () {
        yield* ensureTenantRole;
        yield* rows("CREATE TABLE later_ones (tenant_id text PRIMARY KEY)");
        yield* inTenant("acme", rows("INSERT INTO later_ones VALUES ('acme')"));
        const lacking = yield* rows(`
        SELECT c.relname AS name FROM pg_class c
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'effect_sql_migrations'
          AND NOT (has_table_privilege('effect_agent_tenant', c.oid, 'SELECT')
            AND has_table_privilege('effect_agent_tenant', c.oid, 'INSERT'))`);
        assert.deepStrictEqual(lacking, []);
      }),
  );
});
