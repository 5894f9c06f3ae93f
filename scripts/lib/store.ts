/** The database that a command works on, and the ports on it: DATABASE_URL, else the bundled one of DATA_DIR, which a running host may be using. */
import path from "node:path";
import { Effect, Layer, Redacted, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { migrationsTable, readMigrations } from "#server/postgres/Migrations.ts";
import { peopleLayer } from "#server/postgres/ports.ts";

/** Why a command does nothing, as a sentence for a person. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", {
  message: Schema.String,
}) {}

const databaseUrl = Effect.gen(function* () {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") return given;
  const folder = path.resolve(process.env["DATA_DIR"] ?? ".data", "postgres");
  return (yield* start({ folder, name: "effect_agent" })).url;
});

const Newest = Schema.Tuple([Schema.Struct({ newest: Schema.NullOr(Schema.Int) })]);

/** A command never migrates: it would do so under hosts that do not know the newer schema yet. */
const requireSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const known = (yield* readMigrations()).at(-1)?.id ?? 0;
  const [{ newest }] = yield* Effect.flatMap(
    sql`SELECT max(migration_id) AS newest FROM ${sql(migrationsTable)}`,
    Schema.decodeUnknownEffect(Newest),
  ).pipe(
    Effect.mapError(
      (error) =>
        new CommandRefused({
          message: `The database cannot be read (${error.message}): start a host on it once.`,
        }),
    ),
  );
  if (newest !== known)
    return yield* new CommandRefused({
      message: `The database has migration ${newest ?? 0}, and this release is made for ${known}: start a host of this release on it first.`,
    });
});

/** `SqlClient`, audit, approvals and unknowns on the database; no statement is cut off by time. */
export const commandStore = (applicationName: string) =>
  Layer.unwrap(
    Effect.map(databaseUrl, (url) =>
      peopleLayer.pipe(
        Layer.provide(EventHints.layer),
        Layer.provideMerge(Layer.effectDiscard(requireSchema)),
        Layer.provideMerge(
          Database.layer({
            url: Redacted.make(url),
            applicationName,
            maxConnections: 3,
            statementTimeoutMillis: 0,
          }),
        ),
      ),
    ),
  );
