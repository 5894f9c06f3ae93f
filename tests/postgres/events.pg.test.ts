import * as PgClient from "@effect/sql-pg/PgClient";
import { assert, layer } from "@effect/vitest";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Queue from "effect/Queue";
import * as Stream from "effect/Stream";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import type * as SqlError from "effect/unstable/sql/SqlError";
import { TenantId } from "#lib/contract/ids.ts";
import { EventLog } from "#lib/durable/EventLog.ts";
import { EventHints } from "#server/postgres/EventHints.ts";
import * as EventLogPg from "#server/postgres/EventLogPg.ts";
import { recordsOf } from "#tests/postgres/records.ts";
import { admit, rows, started, store } from "#tests/postgres/store.ts";

const listeners =
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'";

/** Follows the log as a console does: subscribe, read, wait for a hint or a second, read again. */
const follow = (tenantId: TenantId, until: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const log = yield* EventLog;
      const hints = yield* log.hints(tenantId);
      const seen: Array<number> = [];
      const kinds: Array<string> = [];
      const wait = hints.pipe(Stream.take(1), Stream.runDrain, Effect.timeoutOption("1 second"));
      while (seen.length < until) {
        const events = yield* log.read({ tenantId, after: seen.at(-1) ?? 0, limit: 7 });
        for (const event of events) {
          seen.push(event.sequence);
          kinds.push(`${event.runId} ${event.event._tag}`);
        }
        if (events.length === 0) yield* wait;
      }
      return { seen, kinds };
    }),
  );

layer(store, { excludeTestServices: true })("the event log on Postgres", (it) => {
  it.effect(
    "[PG-04][OP-01] readers of racing writers see every event once, without gaps, in order",
    () =>
      Effect.gen(function* () {
        const tenant = "racing";
        const writers = 12;
        const rounds = 20;
        const perRun = 1 + 3 + rounds * 2 + 1;
        const reader = yield* Effect.forkChild(follow(TenantId.make(tenant), writers * perRun));
        yield* Effect.forEach(
          Array.from({ length: writers }),
          () =>
            Effect.gen(function* () {
              const { place, writer } = yield* started({ tenant });
              const of = recordsOf(place);
              yield* writer.append([of.opened(), of.turn(["c1"])]);
              for (let round = 0; round < rounds; round++) {
                yield* writer.append(
                  [],
                  [{ event: { _tag: "ModelRequested", turn: round }, at: 1 }],
                );
                yield* writer.append([of.prepared("c1")]);
              }
              yield* writer.append([of.runSettled()]);
            }),
          { concurrency: writers },
        );
        const { seen, kinds } = yield* Fiber.join(reader).pipe(Effect.timeout("30 seconds"));
        assert.deepStrictEqual(
          seen,
          Array.from({ length: writers * perRun }, (_, index) => index + 1),
        );
        assert.strictEqual(kinds.filter((kind) => kind.endsWith("RunCompleted")).length, writers);
        // The events of one run keep the order in which they were written.
        const [runId] = (kinds[0] ?? "").split(" ");
        const ofRun = kinds
          .filter((kind) => kind.startsWith(`${runId} `))
          .map((kind) => kind.split(" ")[1]);
        assert.deepStrictEqual(ofRun.slice(0, 6), [
          "RunQueued",
          "RunStarted",
          "TurnRecorded",
          "ToolCallDeclared",
          "ModelRequested",
          "ToolCallStarted",
        ]);
        assert.strictEqual(ofRun.at(-1), "RunCompleted");
      }),
  );

  it.effect(
    "[PG-04] a transaction that stays open while others commit is not missed by a reader that went on",
    () =>
      Effect.gen(function* () {
        const tenantId = TenantId.make("slow-writer");
        const log = yield* EventLog;
        const sql = yield* SqlClient.SqlClient;
        const { place } = yield* admit({ tenant: tenantId });
        const slow = yield* Effect.forkChild(
          sql.withTransaction(
            Effect.gen(function* () {
              // Draws its place in the inbox before everybody else and commits after them.
              yield* sql`SELECT announce_event(${tenantId}, 'desk', ${place.threadId}, ${place.runId}, 'AbortRequested',
              '{"_tag":"RunAborted","reason":"late"}')`;
              yield* Effect.sleep("600 millis");
            }),
          ),
        );
        yield* Effect.sleep("100 millis");
        const { place: quick } = yield* admit({ tenant: tenantId });
        yield* Effect.sleep("200 millis");
        const early = yield* log.read({ tenantId, after: 0, limit: 10 });
        assert.deepStrictEqual(
          early.map((event) => event.runId),
          [place.runId, quick.runId],
        );
        yield* Fiber.join(slow);
        yield* Effect.sleep("300 millis");
        const late = yield* log.read({ tenantId, after: 2, limit: 10 });
        assert.deepStrictEqual(
          late.map((event) => [event.sequence, event.event._tag]),
          [[3, "RunAborted"]],
        );
        assert.deepStrictEqual(yield* log.bounds(tenantId), { first: 1, last: 3 });
      }),
  );

  it.effect("[PG-04] events that nobody rang for are found by the scan", () =>
    Effect.gen(function* () {
      const tenantId = TenantId.make("silent");
      yield* rows(
        `INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body)
         VALUES ($1, 'desk', 'thr_1', 'run_1', 'RunAborted', now(), '{"_tag":"RunAborted","reason":"x"}')`,
        [tenantId],
      );
      const { seen } = yield* follow(tenantId, 1).pipe(Effect.timeout("4 seconds"));
      assert.deepStrictEqual(seen, [1]);
    }),
  );

  it.effect(
    "an event kind of a later version is a neutral row, and a page names only its own run or tenant",
    () =>
      Effect.gen(function* () {
        const tenantId = TenantId.make("future");
        yield* rows(
          `INSERT INTO event_inbox (tenant_id, agent_id, thread_id, run_id, kind, at, body) VALUES
         ($1, 'desk', 'thr_1', 'run_1', 'RunTeleported', now(), '{"_tag":"RunTeleported","to":"mars"}'),
         ($1, 'desk', 'thr_2', 'run_2', 'RunAborted', to_timestamp(12.345), '{"_tag":"RunAborted","reason":"x"}')`,
          [tenantId],
        );
        yield* follow(tenantId, 2);
        const log = yield* EventLog;
        const [first] = yield* log.read({ tenantId, after: 0, limit: 1 });
        assert.deepStrictEqual(first?.event, { _tag: "UnknownEvent", kind: "RunTeleported" });
        const ofRun = yield* log.read({ tenantId, runId: "run_2", after: 0, limit: 10 });
        assert.deepStrictEqual(
          ofRun.map((event) => [event.sequence, event.at]),
          [[2, 12_345]],
        );
        const other = yield* log.read({ tenantId: TenantId.make("nobody"), after: 0, limit: 10 });
        assert.deepStrictEqual(other, []);
        assert.deepStrictEqual(yield* log.bounds(TenantId.make("nobody")), { first: 1, last: 0 });
      }),
  );

  it.effect("[PG-04] a listener whose connection was closed listens again", () =>
    Effect.gen(function* () {
      const listening = rows(listeners).pipe(
        Effect.repeat({
          until: (found) => found.length > 0,
          schedule: Schedule.spaced("50 millis"),
        }),
        Effect.timeout("5 seconds"),
      );
      for (let round = 0; round < 3; round += 1) {
        const [before] = yield* listening;
        yield* rows("SELECT pg_terminate_backend($1)", [before?.["pid"]]);
        yield* Effect.sleep("200 millis");
        const [after] = yield* listening;
        assert.notStrictEqual(after?.["pid"], before?.["pid"]);
      }
    }),
  );

  it.effect(
    "[PG-04] a listener whose connection its pool gave up, which interrupts it, listens again",
    () =>
      Effect.gen(function* () {
        const client = yield* PgClient.PgClient;
        let listened = 0;
        // What the driver does to the readers of a connection whose scope was closed.
        const givenUp = Effect.gen(function* () {
          listened += 1;
          const queue = yield* Queue.unbounded<never, SqlError.SqlError>();
          Queue.failCauseUnsafe(queue, Cause.interrupt());
          return queue;
        });
        const flaky = new Proxy(client, {
          get: (target, key) =>
            key === "listen" && listened < 2 ? () => givenUp : Reflect.get(target, key),
        });
        yield* Layer.build(
          Layer.fresh(EventLogPg.layer).pipe(
            Layer.provide(Layer.succeed(PgClient.PgClient, flaky)),
            Layer.provide(Layer.fresh(EventHints.layer)),
          ),
        );
        const before = yield* rows(listeners);
        assert.strictEqual(before.length, 1);
        yield* Effect.repeat(rows(listeners), {
          until: (found) => found.length === 2,
          schedule: Schedule.spaced("50 millis"),
        }).pipe(Effect.timeout("8 seconds"));
        assert.strictEqual(listened, 2);
      }),
  );
});
