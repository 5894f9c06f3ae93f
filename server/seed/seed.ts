/** Fills an empty database with runs: history in bulk, then whole runs on top. Resumable: batches are all or nothing. */
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { TenantId } from "#lib/contract/ids.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { runsPerThread, writeHistory } from "./history.ts";
import { writeLargeArgument, writeLongRun } from "./large-runs.ts";
import { writeSmallRun } from "./small-runs.ts";
import { verifySeed } from "./verify-seed.ts";

/** The seed cannot be done as it was asked for; `message` is a sentence for a person. */
export class SeedRefused extends Schema.TaggedError<SeedRefused>()("SeedRefused", {
  message: Schema.String,
}) {}

export interface SeedOptions {
  /** All runs together, over the three tenants. */
  readonly runs: number;
  /** How many of them have a whole journal, beside the two large ones. */
  readonly journals: number;
  /** Events of the long run; 0 leaves it out. */
  readonly longRunEvents: number;
  /** Bytes of the large argument; 0 leaves it out. */
  readonly argumentBytes: number;
}

/** Runs of one batch: some 130,000 rows in one transaction. */
const batchRuns = 20_000;
const historyDays = 180;
const tenants = ["default", "north", "quiet"];

const State = Schema.Struct({
  /** Batches of history whose first run is there. */
  batches: Schema.Int,
  /** Runs with a whole journal that a seed admitted, and those of them that are small. */
  journaled: Schema.Int,
  small: Schema.Int,
  large: Schema.Int,
  all: Schema.Int,
});

/** What is there already; a seeded run is known by its id or its key, which follow from its number. */
const lookAtDatabase = (runs: number) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(State)(sql`
      SELECT (SELECT count(*)::int4 FROM runs) AS all,
        (SELECT count(*)::int4 FROM generate_series(1, ${runs}::bigint, ${batchRuns}) n
          JOIN runs r ON r.run_id = 'run_' || md5('run' || n)
            AND r.tenant_id = ANY (ARRAY['default', 'north', 'quiet'])) AS batches,
        count(*)::int4 AS journaled,
        (count(*) FILTER (WHERE key LIKE 'seed-small-run-%'))::int4 AS small,
        (count(*) FILTER (WHERE key LIKE 'seed-large-%' OR key LIKE 'seed-long-%'))::int4 AS large
      FROM idempotency_keys WHERE key LIKE 'seed-%'`),
  ).pipe(Effect.map((rows) => rows[0] ?? { batches: 0, journaled: 0, small: 0, large: 0, all: 0 }));

const writeTenants = Effect.gen(function* () {
  const sql = yield* SqlClient;
  for (const tenant of tenants)
    yield* sql`INSERT INTO tenants (tenant_id, name) VALUES (${tenant}, ${tenant}) ON CONFLICT DO NOTHING`;
});

const inThousands = (count: number): string => count.toLocaleString("en");

export const seed = Effect.fn("seed")(function* (
  tenantId: TenantId,
  options: SeedOptions,
  say: (line: string) => Effect.Effect<void>,
) {
  const history = Math.max(0, options.runs - options.journals);
  const whole = history - (history % runsPerThread);
  const found = yield* lookAtDatabase(Math.max(1, whole));
  const done = Math.min(whole, found.batches * batchRuns);
  const others = found.all - found.journaled - done;
  if (others !== 0 || found.large > 0) {
    return yield* new SeedRefused({
      message:
        found.large > 0
          ? "This database has been seeded already. Seed an empty one."
          : `The database already holds ${inThousands(Math.abs(others))} runs that this seed did not make. Seed an empty database, or go on with the numbers of the seed that was broken off.`,
    });
  }
  yield* writeTenants;
  const begun = yield* Clock.currentTimeMillis;
  const stepMillis = (historyDays * 86_400_000) / Math.max(1, whole);
  // The last run of the history has settled before the seed began, also where that was broken off once.
  const since = yield* firstMoment(begun - historyDays * 86_400_000 - 2 * stepMillis - 120_000);
  for (let from = done + 1; from <= whole; from += batchRuns) {
    const to = Math.min(whole, from + batchRuns - 1);
    yield* writeHistory({ from, to, since, stepMillis });
    const seconds = ((yield* Clock.currentTimeMillis) - begun) / 1_000;
    const rate = (to - done) / Math.max(0.001, seconds);
    yield* say(
      `${inThousands(to)} of ${inThousands(whole)} runs of history, ${inThousands(Math.round(rate))} a second, ${Math.ceil((whole - to) / rate)} s left`,
    );
  }
  for (let number = found.small; number < options.journals; number++) {
    yield* writeSmallRun(tenantId, number);
    if ((number + 1) % 100 === 0)
      yield* say(`${inThousands(number + 1)} runs with a whole journal`);
  }
  if (options.longRunEvents > 0) {
    const events = yield* writeLongRun(tenantId, options.longRunEvents);
    yield* say(`one run of ${inThousands(events)} events`);
  }
  if (options.argumentBytes > 0) {
    yield* writeLargeArgument(tenantId, options.argumentBytes);
    yield* say(`one run with an argument of ${inThousands(options.argumentBytes)} bytes`);
  }
  return yield* verifySeed(tenantId, { threads: options.journals + 2, approvals: 2_000 });
});

const First = Schema.Struct({ at: Schema.NullOr(Schema.Date) });

/** A seed that goes on must reckon from the moment that it began with. */
const firstMoment = (otherwise: number) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(First)(
      sql`SELECT created_at AS at FROM runs WHERE run_id = 'run_' || md5('run' || 1)`,
    ),
  ).pipe(
    Effect.map((rows) => {
      const at = rows[0]?.at;
      return at === undefined || at === null ? new Date(otherwise) : at;
    }),
  );
