/** Asks a database once, before anything is written to it, whether this release can use it. */
import * as PgConnection from "@effect/sql-pg/PgConnection";
import * as Effect from "effect/Effect";
import * as Redacted from "effect/Redacted";
import * as Schema from "effect/Schema";
import type { SqlError } from "effect/unstable/sql/SqlError";
import { LaunchRefused } from "#server/launch/LaunchRefused.ts";

/** Generated columns, `pg_snapshot` functions and the locking clauses the migrations use are all in 15. */
export const oldestServerVersion = 150_000;

const Version = Schema.Struct({ version: Schema.NumberFromString });
const Newest = Schema.Struct({ newest: Schema.NullOr(Schema.Int) });

/** Pure: host, port and database of an address, without user and password. */
export const placeOf = (url: string): string => {
  if (!URL.canParse(url)) return "DATABASE_URL";
  const { hostname, port, pathname } = new URL(url);
  return `${hostname === "" ? "localhost" : hostname}:${port === "" ? "5432" : port}${pathname}`;
};

const wordsOf = (error: SqlError): string => {
  const { cause } = error.reason;
  const told = cause instanceof Error && cause.message !== "" ? cause.message : error.message;
  return told.replace(/\s+/g, " ").slice(0, 300);
};

const unreachable = (place: string) => (error: SqlError) =>
  new LaunchRefused({
    reason: "database-unreachable",
    message: `The database at ${place} cannot be used (${wordsOf(error)}): see that it runs and that DATABASE_URL names the right host, user, password and database, or unset it to use the bundled one.`,
  });

export const checkDatabase = Effect.fn("launch.checkDatabase")(function* (
  url: Redacted.Redacted,
  newestKnown: number,
) {
  const place = placeOf(Redacted.value(url));
  const refuse = Effect.mapError(unreachable(place));
  const connection = yield* PgConnection.make({ url, connectTimeout: "5 seconds" }).pipe(refuse);
  const about = yield* connection
    .query("SELECT current_setting('server_version_num') AS version")
    .pipe(refuse);
  const { version } = yield* Schema.decodeUnknownEffect(Version)(about.rows[0]).pipe(Effect.orDie);
  if (version < oldestServerVersion) {
    return yield* new LaunchRefused({
      reason: "database-too-old",
      message: `The database at ${place} is PostgreSQL ${Math.floor(version / 10_000)}, and 15 or newer is needed: upgrade it, or unset DATABASE_URL to use the bundled one.`,
    });
  }
  const known = yield* connection
    .query("SELECT to_regclass('effect_sql_migrations') IS NOT NULL AS present")
    .pipe(refuse);
  if (known.rows[0]?.["present"] !== true) return;
  const applied = yield* connection
    .query("SELECT max(migration_id)::int AS newest FROM effect_sql_migrations")
    .pipe(refuse);
  const { newest } = yield* Schema.decodeUnknownEffect(Newest)(applied.rows[0]).pipe(Effect.orDie);
  if (newest !== null && newest > newestKnown) {
    return yield* new LaunchRefused({
      reason: "database-newer",
      message: `The database at ${place} was written by a newer release (its schema is at ${newest}, this release knows ${newestKnown}): start that release, or use another database.`,
    });
  }
}, Effect.scoped);
