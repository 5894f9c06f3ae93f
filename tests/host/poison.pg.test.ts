/** Work that only ever loses its attempts: it backs off, is limited, and ends in a typed state. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunRecordKind } from "#lib/contract/records.ts";
import type { ThreadId } from "#lib/contract/ids.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { StoreError } from "#lib/durable/StoreError.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { maxLostAttempts } from "#lib/host/attempt-run.ts";
import { backoffSeconds, ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { driverLayer, storeLayer, submit, tenantId } from "#tests/support/durable-host.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const Mark = Tool.make("mark", { success: Schema.String }).annotate(
  ToolExecutionClass,
  "idempotent",
);
const toolkit = Toolkit.make(Mark);
const agent = Agent.make("marker", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Mark it.",
  toolkit,
});

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

/** A store that never takes records of this kind, though everything else is kept. */
const refusing = (kind: RunRecordKind) =>
  Layer.effect(
    Journal,
    Effect.map(Journal, (journal) =>
      Journal.of({
        ...journal,
        append: (request) =>
          request.records.some((record) => record._tag === kind)
            ? Effect.fail(
                new StoreError({
                  operation: "Journal.append",
                  message: `No ${kind} today.`,
                  retryable: false,
                }),
              )
            : journal.append(request),
      }),
    ),
  );

const Place = Schema.Tuple([
  Schema.Struct({ state: Schema.String, delay: Schema.Number, lost: Schema.Int }),
]);

/** Where the submission is, and for how many seconds it was put off. */
const placeOf = (threadId: ThreadId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const rows = yield* sql`
      SELECT state, round(extract(epoch FROM due_at - state_since))::float8 AS delay, lost_attempts AS lost
      FROM submissions WHERE thread_id = ${threadId}`;
    const [place] = yield* Schema.decodeUnknownEffect(Place)(rows);
    return place;
  });

/** Drives it again and again, each time as if its delay had passed, and tells the delays. */
const untilGivenUp = (threadId: ThreadId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const driver = yield* ThreadDriver;
    const delays: Array<number> = [];
    // One more than may be needed: what never ends must not end the test.
    for (let drive = 0; drive < maxLostAttempts + 2; drive += 1) {
      yield* driver.drive({ tenantId, threadId });
      const place = yield* placeOf(threadId);
      if (place.state !== "ready") return { delays, place };
      delays.push(place.delay);
      yield* sql`UPDATE submissions SET due_at = now() WHERE thread_id = ${threadId}`;
    }
    return yield* Effect.die("The run is tried for ever");
  });

const recordsOf = (threadId: ThreadId) =>
  Effect.flatMap(Journal, (journal) =>
    journal.read({ tenantId, threadId, after: 0, limit: 1_000 }),
  ).pipe(Effect.map((records) => records.map(({ record }) => record)));

const withHost = <A, E>(
  kind: RunRecordKind,
  body: (
    ran: () => number,
  ) => Effect.Effect<
    A,
    E,
    ThreadDriver | Journal | SqlClient.SqlClient | Layer.Success<ReturnType<typeof storeLayer>>
  >,
) => {
  let ran = 0;
  const handlers = toolkit.toLayer({ mark: () => Effect.sync(() => ((ran += 1), "marked")) });
  const once = toolCalls([{ id: "c1", name: "mark" }]);
  const layer = driverLayer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
    Layer.provideMerge(ScriptedModel.layer([], { whenExhausted: () => once })),
    Layer.provideMerge(refusing(kind)),
    Layer.provideMerge(storeLayer(database.url)),
  );
  return body(() => ran).pipe(Effect.provide(layer));
};

const doubling = [1, 2, 4, 8, 16, 32, 64, 128];

describe("poison work", () => {
  it("[DU-10] the delay doubles from a second and never passes five minutes", () => {
    assert.deepStrictEqual(
      doubling.map((_, lost) => backoffSeconds(lost)),
      doubling,
    );
    assert.strictEqual(backoffSeconds(9), 300);
    assert.strictEqual(backoffSeconds(1_000), 300);
  });

  it.live(
    "[DU-10] a response that can never be stored: eight attempts, each later than the last, then failed as poisoned",
    () =>
      withHost("TurnRecorded", (ran) =>
        Effect.gen(function* () {
          const { threadId } = yield* submit("marker", "go", "key-poison-turn");
          const { delays, place } = yield* untilGivenUp(threadId);
          assert.deepStrictEqual(delays, doubling);
          assert.strictEqual(place.state, "settled");
          const records = yield* recordsOf(threadId);
          assert.deepInclude(records.at(-1), {
            _tag: "RunSettled",
            outcome: "failed",
            finishReason: "poisoned",
          });
          assert.strictEqual(
            records.filter(({ _tag }) => _tag === "AttemptStarted").length,
            maxLostAttempts,
          );
          assert.strictEqual(ran(), 0);
        }),
      ),
  );

  it.live(
    "[DU-09][DU-10] an idempotent call whose result can never be stored: repeated at most eight times, then in doubt for a person",
    () =>
      withHost("ToolCallSettled", (ran) =>
        Effect.gen(function* () {
          const { threadId } = yield* submit("marker", "go", "key-poison-call");
          yield* untilGivenUp(threadId);
          const records = yield* recordsOf(threadId);
          const ends = records.slice(-2).map((record) => record._tag);
          assert.deepStrictEqual(ends, ["ToolCallUnknown", "RunSettled"]);
          assert.deepInclude(records.at(-1), { finishReason: "poisoned" });
          assert.isAtMost(ran(), maxLostAttempts + 1);
          const keys = records.flatMap((record) =>
            record._tag === "ToolCallPrepared" ? [record.idempotencyKey] : [],
          );
          assert.strictEqual(new Set(keys).size, 1);
        }),
      ),
  );
});
