/** What must exist inside a fresh server: the application's role, without superuser rights, and its database. */
import * as PgConnection from "@effect/sql-pg/PgConnection";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";

export interface Endpoint {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

export const urlOf = (endpoint: Endpoint): string =>
  `postgres://${endpoint.username}:${encodeURIComponent(endpoint.password)}@127.0.0.1:${endpoint.port}/${endpoint.database}`;

export const connectTo = (endpoint: Endpoint) =>
  PgConnection.make({ url: Redacted.make(urlOf(endpoint)), connectTimeout: "2 seconds" });

/** Whether the server that answers is the one of this folder: our password opens it. */
export const answers = (endpoint: Endpoint) =>
  Effect.scoped(
    connectTo(endpoint).pipe(
      Effect.flatMap((connection) => connection.query("SELECT 1")),
      Effect.asVoid,
    ),
  );

/** Passwords here are base64url and names are constants of this program, so quoting them is enough. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * Idempotent, and safe to be killed anywhere. The role is no superuser, so that row-level security holds for it;
 * it owns its database, so that it can migrate it.
 */
export const ensureDatabase = Effect.fn("EmbeddedPostgres.ensureDatabase")(function* (
  admin: Endpoint,
  application: Endpoint,
) {
  const connection = yield* connectTo(admin);
  const roles = yield* connection.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [
    application.username,
  ]);
  const verb = roles.rows.length === 0 ? "CREATE" : "ALTER";
  yield* connection.query(
    `${verb} ROLE "${application.username}" LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD ${literal(application.password)}`,
    [],
    false,
  );
  // What operators' commands run as: it owns nothing, so that row-level security holds for it (0016).
  const tenantRole = yield* connection.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [
    "effect_agent_tenant",
  ]);
  if (tenantRole.rows.length === 0)
    yield* connection.query("CREATE ROLE effect_agent_tenant NOLOGIN", [], false);
  yield* connection.query(`GRANT effect_agent_tenant TO "${application.username}"`, [], false);
  const databases = yield* connection.query("SELECT 1 FROM pg_database WHERE datname = $1", [
    application.database,
  ]);
  if (databases.rows.length === 0) {
    yield* connection.query(
      `CREATE DATABASE "${application.database}" OWNER "${application.username}"`,
      [],
      false,
    );
  }
}, Effect.scoped);
