/**
 * `npm run seed -- --runs 1000000 --url postgres://...`: fills an empty database with runs, in bulk.
 * Without `--url` it takes DATABASE_URL, else the bundled database of DATA_DIR (start no server on it
 * meanwhile). A seed that was broken off goes on where it was; a database with anybody's runs is refused.
 *
 * Every run but the last `--journals` ones has its projections only (docs/architecture.md, Volume).
 */
import path from "node:path";
import { parseArgs } from "node:util";
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Console, Effect, Layer, Option, Redacted, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { TenantId } from "#lib/contract/ids.ts";
import { seedInstallation } from "#server/operator/seed-installation.ts";
import * as Database from "#server/postgres/Database.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as EventLogPg from "#server/postgres/EventLogPg.ts";
import * as JournalPg from "#server/postgres/JournalPg.ts";
import * as Migrations from "#server/postgres/Migrations.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";
import { start } from "#server/postgres/embedded/EmbeddedPostgres.ts";
import { seed, SeedRefused } from "#server/seed/seed.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    journals: { type: "string", default: "500" },
    events: { type: "string", default: "50000" },
    argument: { type: "string", default: "20" },
    url: { type: "string" },
  },
});

const WholeNumber = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 0, maximum: 100_000_000 }),
);

const numberOf = (name: "runs" | "journals" | "events" | "argument") =>
  Schema.decodeEffect(WholeNumber)(values[name]).pipe(
    Effect.mapError(
      () =>
        new SeedRefused({
          message: `--${name} must be a whole number from 0 to 100,000,000, but is ${JSON.stringify(values[name])}.`,
        }),
    ),
  );

const databaseUrl = Effect.gen(function* () {
  const given = values.url ?? process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") return given;
  const folder = path.resolve(process.env["DATA_DIR"] ?? ".data", "postgres");
  return (yield* start({ folder, name: "effect_agent" })).url;
});

const main = Effect.gen(function* () {
  const options = {
    runs: yield* numberOf("runs"),
    journals: yield* numberOf("journals"),
    longRunEvents: yield* numberOf("events"),
    argumentBytes: 1_000_000 * (yield* numberOf("argument")),
  };
  const url = yield* databaseUrl;
  const database = Database.layer({
    url: Redacted.make(url),
    applicationName: "seed",
    maxConnections: 4,
    statementTimeoutMillis: 0,
  });
  const store = Layer.mergeAll(JournalPg.layer, SubmissionLedgerPg.layer, EventLogPg.layer).pipe(
    Layer.provide(EventHints.layer),
    Layer.provideMerge(Migrations.layer),
    Layer.provideMerge(database),
  );
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient;
    yield* seedInstallation(Option.none());
    const verdict = yield* seed(TenantId.make("default"), options, (line) => Console.log(line));
    yield* Console.log("counting what the planner knows (ANALYZE)");
    yield* sql`VACUUM ANALYZE`;
    for (const fault of verdict.faults) yield* Console.error(fault);
    yield* Console.log(
      `verified: ${verdict.chains} journals of ${verdict.records} records hold, ${verdict.approvals} approvals have the digest of their arguments, ${verdict.faults.length} faults`,
    );
    return verdict.faults.length === 0;
  }).pipe(Effect.provide(store));
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer));

NodeRuntime.runMain(
  main.pipe(
    Effect.catchTag("SeedRefused", (refused) => Effect.as(Console.error(refused.message), false)),
    Effect.filterOrFail(
      (fine) => fine,
      () => "The seed did not end well.",
    ),
  ),
  { disableErrorReporting: true },
);
