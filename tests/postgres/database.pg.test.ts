import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Redacted from "effect/Redacted";
import * as Schedule from "effect/Schedule";
import * as Schema from "effect/Schema";
import * as Scope from "effect/Scope";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as Database from "#server/postgres/Database.ts";
import * as SubmissionLedgerPg from "#server/postgres/SubmissionLedgerPg.ts";
import { admit, rows, store, TestUrl, worker } from "#tests/postgres/store.ts";

const raise = (state: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`),
  );

/** Fails with `state` for the first `times` tries. */
const failing = (state: string, times: number) => {
  let tries = 0;
  return {
    effect: Effect.suspend(() => (++tries <= times ? Effect.asVoid(raise(state)) : Effect.void)),
    tries: () => tries,
  };
};

layer(store, { excludeTestServices: true })("transitions on Postgres", (it) => {
  it.effect("[PG-08] serialization failures and deadlocks are tried again, with a bound", () =>
    Effect.gen(function* () {
      for (const state of ["40001", "40P01"]) {
        const passing = failing(state, 3);
        yield* Database.transaction("test", passing.effect);
        assert.strictEqual(passing.tries(), 4);
        const lasting = failing(state, 1_000);
        const error = yield* Effect.flip(Database.transaction("test", lasting.effect));
        assert.isTrue(error._tag === "StoreError" && error.retryable);
        assert.strictEqual(lasting.tries(), 7);
      }
    }),
  );

  it.effect("[PG-08] nothing else is tried again, and each error says whether it may pass", () =>
    Effect.gen(function* () {
      const passes = {
        "57014": true,
        "55P03": true,
        "53300": true,
        "53100": true,
        "57P01": true,
        "25006": true,
      };
      const stays = {
        "23505": false,
        "22P02": false,
        "42P01": false,
        XX001: false,
        "28000": false,
      };
      for (const [state, retryable] of Object.entries({ ...passes, ...stays })) {
        const attempt = failing(state, 1_000);
        const error = yield* Effect.flip(Database.transaction("test", attempt.effect));
        assert.deepStrictEqual(
          [error._tag, error._tag === "StoreError" && error.retryable, attempt.tries()],
          ["StoreError", retryable, 1],
          state,
        );
      }
    }),
  );

  it.effect("[PG-08] a COMMIT that fails is an answer of the store, not a defect", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE TABLE parents (id integer PRIMARY KEY)`;
      yield* sql`CREATE TABLE children (parent integer REFERENCES parents DEFERRABLE INITIALLY DEFERRED)`;
      const error = yield* Effect.flip(
        Database.transaction("test", sql`INSERT INTO children VALUES (7)`),
      );
      assert.isTrue(error._tag === "StoreError" && !error.retryable);
      assert.include(error.message, "children_parent_fkey");
      assert.notInclude(error.message, "(7)");
    }),
  );

  it.effect(
    "typed failures, defects and interruption of a transition pass unchanged, and roll back",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient;
        yield* sql`CREATE TABLE marks (id integer)`;
        const mark = sql`INSERT INTO marks VALUES (1)`;
        const failed = yield* Effect.flip(
          Database.transaction(
            "test",
            Effect.andThen(mark, Effect.fail({ _tag: "Mine" as const })),
          ),
        );
        assert.strictEqual(failed._tag, "Mine");
        const died = yield* Effect.exit(
          Database.transaction("test", Effect.andThen(mark, Effect.die("bug"))),
        );
        assert.isTrue(died._tag === "Failure" && died.cause.reasons[0]?._tag === "Die");
        const slow = Database.transaction("test", Effect.andThen(mark, sql`SELECT pg_sleep(5)`));
        assert.isTrue(Option.isNone(yield* Effect.timeoutOption(slow, "200 millis")));
        const unreadable = yield* Effect.flip(
          Database.transaction(
            "test",
            Effect.andThen(mark, Schema.decodeUnknownEffect(Schema.Int)("x")),
          ),
        );
        assert.isTrue(unreadable._tag === "StoreError" && !unreadable.retryable);
        assert.deepStrictEqual(yield* sql`SELECT * FROM marks`, []);
      }),
  );

  it.effect("[PG-08] a claim that waits for a connection of a full pool has claimed nothing", () =>
    Effect.gen(function* () {
      const url = yield* TestUrl;
      const { place } = yield* admit();
      const epoch = Effect.map(
        rows("SELECT epoch::int AS epoch FROM threads WHERE thread_id = $1", [place.threadId]),
        (found) => found[0]?.["epoch"],
      );
      const narrow = Layer.fresh(SubmissionLedgerPg.layer).pipe(
        Layer.provide(Layer.fresh(EventHints.layer)),
        Layer.provideMerge(
          Layer.fresh(Database.layer({ url: Redacted.make(url), maxConnections: 1 })),
        ),
      );
      const claiming = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient;
        const ledger = yield* SubmissionLedger;
        return { sql, claim: ledger.claim({ ...place, workerId: worker }) };
      }).pipe(Effect.provide(yield* Layer.build(narrow)));
      const held = yield* Scope.make();
      yield* Scope.provide(claiming.sql.reserve, held);
      const waiting = yield* Effect.forkChild(claiming.claim);
      yield* Effect.sleep("200 millis");
      assert.strictEqual(yield* epoch, 0);
      yield* Scope.close(held, Exit.void);
      assert.isTrue(Option.isSome(yield* Fiber.join(waiting)));
      assert.strictEqual(yield* epoch, 1);
    }).pipe(Effect.scoped),
  );

  it.effect("[PG-08] a connection that the server ends is replaced, and work goes on", () =>
    Effect.gen(function* () {
      const url = yield* TestUrl;
      yield* Effect.gen(function* () {
        yield* Database.ping;
        const pid = yield* rows("SELECT pg_backend_pid() AS pid");
        const ended = yield* Effect.flip(
          Database.transaction(
            "test",
            rows("SELECT pg_terminate_backend($1::int)", [Number(pid[0]?.["pid"])]),
          ),
        );
        assert.isTrue(ended._tag === "StoreError" && ended.retryable);
        yield* Effect.retry(Database.ping, { times: 20, schedule: Schedule.spaced("50 millis") });
      }).pipe(
        Effect.provide(Layer.fresh(Database.layer({ url: Redacted.make(url), maxConnections: 1 }))),
      );
    }),
  );
});
