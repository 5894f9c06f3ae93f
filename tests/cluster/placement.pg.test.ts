/** Members that start at the same moment on a new database. */
import { assert, describe, it } from "@effect/vitest";
import * as PgConnection from "@effect/sql-pg/PgConnection";
import { Effect, Fiber, Layer, Redacted } from "effect";
import { RunnerStorage, ShardingConfig } from "effect/unstable/cluster";
import { runnerStorageLayer } from "#server/cluster/placement.ts";
import { makeTestDatabase } from "#tests/support/postgres.ts";

const database = Effect.acquireRelease(
  Effect.promise(() => makeTestDatabase()),
  (made) => Effect.promise(() => made.drop()),
);

describe("placement on a new database", () => {
  it.live(
    "[PG-03] a member whose table another one creates in the same moment starts all the same",
    () =>
      Effect.gen(function* () {
        const url = Redacted.make((yield* database).url);
        const other = yield* PgConnection.make({ url });
        const run = (statement: string) => other.query(statement, [], false);
        // The other member is in the middle of it: this one must wait for its commit, and is then refused.
        yield* run("BEGIN");
        yield* run(`CREATE TABLE cluster_runners (address VARCHAR(255) PRIMARY KEY, runner TEXT NOT NULL,
        healthy BOOLEAN NOT NULL DEFAULT TRUE, last_heartbeat TIMESTAMP NOT NULL DEFAULT NOW())`);
        const starting = yield* Layer.build(
          runnerStorageLayer(url).pipe(Layer.provide(ShardingConfig.layer())),
        ).pipe(Effect.forkChild);
        const waits = Effect.map(
          run("SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted"),
          ({ rows }) => rows[0]?.["waiting"] !== 0,
        );
        while (!(yield* waits)) yield* Effect.sleep("10 millis");
        yield* run("COMMIT");
        const services = yield* Fiber.join(starting);
        const storage = yield* Effect.provideContext(RunnerStorage.RunnerStorage, services);
        assert.deepStrictEqual(yield* storage.getRunners, []);
      }).pipe(Effect.scoped),
  );
});
