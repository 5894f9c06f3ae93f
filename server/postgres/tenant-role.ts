/** Whether operators' commands and reads are bound by the database's row policies, and what is missing where they are not (PG-05). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { transition } from "#server/postgres/Database.ts";

const State = Schema.Tuple([
  Schema.Struct({
    state: Schema.Literals(["missing", "not-ours", "not-granted", "bound"]),
    owner: Schema.String,
  }),
]);

const readState = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.flatMap(
    sql`SELECT tenant_role_state() AS state, current_user AS owner`,
    Schema.decodeUnknownEffect(State),
  ),
).pipe(Effect.map(([row]) => row));

/** Grants the tables to a role that an administrator has made meanwhile; says in one line when there is none. */
export const ensureTenantRole = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const found = yield* transition("tenant role", readState);
  if (found.state === "not-granted")
    yield* transition("tenant role", sql`SELECT grant_tenant_role()`);
  if (found.state === "missing" || found.state === "not-ours")
    yield* Effect.logWarning(
      `Operators' commands and the console's reads run as the tables' owner ${found.owner}, which row-level security does not bind. To bind them, run as an administrator of the database: ${found.state === "missing" ? "CREATE ROLE effect_agent_tenant NOLOGIN; " : ""}GRANT effect_agent_tenant TO "${found.owner}"; and start again.`,
    );
}).pipe(
  // Two hosts that start at once grant the same: one of them meets the other's write.
  Effect.catchTag("StoreError", (error) =>
    Effect.logWarning("The role of tenants was not looked after", error.message),
  ),
);
