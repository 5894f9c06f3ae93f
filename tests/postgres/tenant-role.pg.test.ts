/** Commands under the database's own row policies, on the role that the embedded server makes. */
import { randomBytes } from "node:crypto";
import * as PgConnection from "@effect/sql-pg/PgConnection";
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Redacted from "effect/Redacted";
import { TenantId } from "#lib/contract/ids.ts";
import * as Database from "#server/postgres/Database.ts";
import { ensureTenantRole } from "#server/postgres/tenant-role.ts";
import { actForTenant, inSnapshot } from "#server/views/snapshot.ts";
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
    "[PG-05] a read of the console that forgot its tenant sees nothing of another one, in any table, and changes nothing",
    () =>
      Effect.gen(function* () {
        for (const tenant of ["reader", "stranger"]) {
          const { place, writer } = yield* started({ tenant });
          yield* writer.append([recordsOf(place).opened(), recordsOf(place).attempt()]);
        }
        const tables = yield* rows(`SELECT c.relname AS name FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
          WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`);
        const readsOf = (tenant: string) =>
          inSnapshot(
            TenantId.make(tenant),
            Effect.forEach(tables, ({ name }) =>
              Effect.map(
                rows(`SELECT DISTINCT tenant_id FROM ${String(name)}`),
                (found) => [String(name), found.map((row) => row["tenant_id"])] as const,
              ),
            ),
          );
        const seen = yield* readsOf("reader");
        assert.isAbove(seen.filter(([, tenants]) => tenants.length > 0).length, 5);
        for (const [name, tenants] of seen)
          assert.isTrue(
            tenants.every((one) => one === "reader"),
            `${name}: ${String(tenants)}`,
          );
        const nobodys = yield* readsOf("nobody");
        assert.deepStrictEqual(
          nobodys.filter(([, tenants]) => tenants.length > 0),
          [],
        );
        const written = yield* Effect.exit(
          inSnapshot(TenantId.make("reader"), rows("UPDATE runs SET title = 'mine'")),
        );
        assert.isTrue(Exit.isFailure(written));
      }),
  );

  it.effect(
    "[PG-05] the look-ups that pass by the policies give keys of the transaction's tenant, and nobody but its role may call them",
    () =>
      Effect.gen(function* () {
        const near = "now() - interval '1 day', now() + interval '1 day'";
        yield* rows(`INSERT INTO run_titles (tenant_id, run_id, created_at, title)
          VALUES ('left', 'run_left', now(), 'one title'), ('right', 'run_right', now(), 'one title')`);
        for (const tenant of ["left", "right"]) {
          yield* rows(`INSERT INTO approval_requests (tenant_id, request_id, thread_id, run_id, agent_id, turn, call_id,
              tool_name, summary, risk, denial_rule, approvers_required, self_approval, parameters_digest, content,
              requested_sequence, requested_at, state)
            VALUES ('${tenant}', 'apr_${tenant}', 't', 'run_${tenant}', 'a', 1, 'c', 'x', 's', 'high', 'recoverable', 1, true,
              repeat('a', 64), '{}', 1, now(), 'pending')`);
          yield* rows(`INSERT INTO unknown_outcomes (tenant_id, unknown_id, thread_id, run_id, agent_id, turn, call_id,
              tool_name, reason, detail, after_settlement, parameters_digest, unknown_sequence, unknown_at, state)
            VALUES ('${tenant}', 'unk_${tenant}', 't', 'run_${tenant}', 'a', 1, 'c', 'x', 'process-lost', '', false, repeat('a', 64), 1,
              now(), 'open')`);
        }
        const lookUps = [
          ["run_id", "titles_like('%title%')", "run_"],
          ["request_id", `approvals_open_near(${near})`, "apr_"],
          ["unknown_id", `unknowns_open_near(${near})`, "unk_"],
        ] as const;
        for (const tenant of ["left", "right", "neither"])
          for (const [key, call, prefix] of lookUps)
            assert.deepStrictEqual(
              yield* inTenant(tenant, rows(`SELECT ${key} AS key FROM ${call}`)),
              tenant === "neither" ? [] : [{ key: `${prefix}${tenant}` }],
            );
        const owned = yield* rows(`SELECT proname AS name FROM pg_proc
          WHERE prosecdef AND pronamespace = 'public'::regnamespace ORDER BY proname`);
        assert.deepStrictEqual(
          owned.map(({ name }) => name),
          ["approvals_open_near", "titles_like", "unknowns_open_near"],
        );
        const open = yield* rows(`SELECT proname AS name FROM pg_proc
          WHERE prosecdef AND pronamespace = 'public'::regnamespace AND has_function_privilege('public', oid, 'EXECUTE')`);
        assert.deepStrictEqual(open, []);
      }),
  );

  it.effect(
    "[PG-05] an owner who made the role and was not granted it is not taken for bound: it could not take the role",
    () =>
      Effect.gen(function* () {
        const [database] = yield* rows("SELECT current_database() AS name");
        const url = new URL(process.env["EFFECT_AGENT_TEST_ADMIN_URL"] ?? "");
        url.pathname = `/${String(database?.["name"])}`;
        const admin = yield* PgConnection.make({ url: Redacted.make(url.toString()) });
        const maker = `maker_${randomBytes(6).toString("hex")}`;
        const stateFor = (grant: string) =>
          Effect.gen(function* () {
            yield* admin.query(grant, []);
            yield* admin.query(`SET ROLE ${maker}`, []);
            const answer = yield* admin.query("SELECT tenant_role_state() AS state", []);
            yield* admin.query("RESET ROLE", []);
            return answer.rows;
          });
        yield* admin.query(`CREATE ROLE ${maker} NOLOGIN`, []);
        yield* Effect.gen(function* () {
          // What PostgreSQL 16 and later give the maker of a role.
          assert.deepStrictEqual(
            yield* stateFor(
              `GRANT effect_agent_tenant TO ${maker} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE`,
            ),
            [{ state: "not-ours" }],
          );
          assert.deepStrictEqual(
            yield* stateFor(`GRANT effect_agent_tenant TO ${maker} WITH SET TRUE`),
            [{ state: "bound" }],
          );
        }).pipe(Effect.ensuring(Effect.orDie(admin.query(`DROP ROLE ${maker}`, []))));
      }).pipe(Effect.scoped),
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
