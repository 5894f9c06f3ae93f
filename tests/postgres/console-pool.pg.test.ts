/** Slow reads of the console hold their own connections, and no others. */
import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Redacted from "effect/Redacted";
import * as Schedule from "effect/Schedule";
import * as Scope from "effect/Scope";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { TenantId } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { inSnapshot } from "#server/views/snapshot.ts";
import * as ReadDatabase from "#server/postgres/ReadDatabase.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { rows, started, store, TestUrl, worker } from "#tests/postgres/store.ts";

const acme = TenantId.make("acme");
const lock = 771_203;
const readPool = (statementSeconds: number) =>
  Layer.unwrap(
    Effect.map(TestUrl, (url) =>
      ReadDatabase.layer({ url: Redacted.make(url), connections: 2, statementSeconds }),
    ),
  );

/** A read that ends only when the test lets go of a lock. */
const heldRead = inSnapshot(acme, rows(`SELECT pg_advisory_xact_lock(${lock})`));

const poll = Schedule.spaced("20 millis");

const waiting = Effect.map(
  rows(`SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'effect-agent console' AND wait_event = 'advisory'`),
  (found) => Number(found[0]?.["count"]),
);

layer(store, { excludeTestServices: true })("the console's pool", (it) => {
  it.effect(
    "[PG-08] while 50 slow reads hold every connection of the console, work is claimed, appended and kept alive",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient;
        const ledger = yield* SubmissionLedger;
        const held = yield* Scope.make();
        const holder = yield* Scope.provide(sql.reserve, held);
        yield* holder.execute(`SELECT pg_advisory_lock(${lock})`, [], undefined);
        const reads = yield* Effect.forEach(Array.from({ length: 50 }), () =>
          Effect.forkChild(heldRead),
        );
        yield* Effect.repeat(waiting, { until: (count) => count === 2, schedule: poll });
        const { place, writer } = yield* started();
        yield* writer.append([recordsOf(place).opened(), recordsOf(place).attempt()]);
        yield* ledger.heartbeat({ workerId: worker, address: "here" });
        // All of it happened while not one of the reads had ended and both connections were taken.
        assert.strictEqual(yield* waiting, 2);
        assert.isTrue(reads.every((fiber) => fiber.pollUnsafe() === undefined));
        yield* holder.execute(`SELECT pg_advisory_unlock(${lock})`, [], undefined);
        yield* Scope.close(held, Exit.void);
        for (const fiber of reads) yield* Fiber.join(fiber);
      }).pipe(Effect.provide(readPool(30))),
  );

  it.effect(
    "[PG-08] a read that takes longer than a read may is cancelled by the server, says so, and frees its connection",
    () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(inSnapshot(acme, rows("SELECT pg_sleep(60)")));
        assert.strictEqual(error._tag, "StoreUnavailable");
        assert.include(error.message, "the longest time that one read may take");
        const [row] = yield* inSnapshot(acme, rows("SELECT 1 AS one"));
        assert.strictEqual(row?.["one"], 1);
      }).pipe(Effect.provide(readPool(1))),
  );

  it.effect(
    "[PG-05] [PG-08] a read whose statements were made before its snapshot runs in it all the same",
    () =>
      Effect.gen(function* () {
        // As the views do: the client is taken first, then the snapshot is opened.
        const sql = yield* SqlClient;
        const where = yield* inSnapshot(
          acme,
          sql`SELECT current_setting('application_name') AS pool, current_setting('transaction_isolation') AS isolation,
            current_setting('transaction_read_only') AS "readOnly", current_setting('effect_agent.tenant', true) AS tenant`,
        );
        assert.deepStrictEqual(where, [
          {
            pool: "effect-agent console",
            isolation: "repeatable read",
            readOnly: "on",
            tenant: acme,
          },
        ]);
      }).pipe(Effect.provide(readPool(5))),
  );

  it.effect("[PG-05] a read of the console writes nothing", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(inSnapshot(acme, rows("DELETE FROM runs")));
      assert.isTrue(Exit.isFailure(exit));
    }).pipe(Effect.provide(readPool(5))),
  );
});
