/** An abort of a run that waits behind another one of its thread. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  driverLayer,
  requester,
  storeLayer,
  submit,
  tenantId,
} from "#tests/support/durable-host.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const Slow = Tool.make("slow", { success: Schema.String });
const toolkit = Toolkit.make(Slow);
const agent = Agent.make("worker", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Work.",
  toolkit,
});

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

const States = Schema.Array(Schema.Struct({ state: Schema.String }));
const stateOf = (runId: RunId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const rows = yield* sql`SELECT state FROM runs WHERE run_id = ${runId}`;
    return (yield* Schema.decodeUnknownEffect(States)(rows))[0]?.state;
  });

describe("an abort of queued work", () => {
  it.live(
    "[DU-12] ends a run that never started at once, though an earlier run of its thread is at work, and disturbs neither that run nor the chain",
    () =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<void>();
        const release = yield* Deferred.make<void>();
        const handlers = toolkit.toLayer({
          slow: () =>
            Deferred.succeed(started, undefined).pipe(
              Effect.andThen(Deferred.await(release)),
              Effect.as("done"),
            ),
        });
        const layer = driverLayer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
          Layer.provideMerge(
            ScriptedModel.layer([
              toolCalls([{ id: "c1", name: "slow" }]),
              text("first"),
              text("third"),
            ]),
          ),
          Layer.provideMerge(storeLayer(database.url)),
        );
        yield* Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          const ledger = yield* SubmissionLedger;
          const journal = yield* Journal;
          const first = yield* submit("worker", "one", "key-queue-1");
          const thread = { tenantId, threadId: first.threadId };
          const second = yield* submit("worker", "two", "key-queue-2", first.threadId);
          const third = yield* submit("worker", "three", "key-queue-3", first.threadId);
          const driving = yield* Effect.forkChild(driver.drive(thread));
          yield* Deferred.await(started);
          yield* ledger.abort({
            tenantId,
            runId: second.runId,
            actor: requester,
            reason: "not needed",
            commandId: null,
          });
          yield* driver.nudge(thread);
          // A bound, not a measurement: without the owner's help it would wait for the first run for ever.
          yield* Effect.repeat(stateOf(second.runId), {
            until: (state) => state === "aborted",
          }).pipe(Effect.timeout("10 seconds"));
          assert.strictEqual(yield* stateOf(first.runId), "running");
          yield* Deferred.succeed(release, undefined);
          yield* Fiber.join(driving);
          assert.deepStrictEqual(
            [
              yield* stateOf(first.runId),
              yield* stateOf(second.runId),
              yield* stateOf(third.runId),
            ],
            ["completed", "aborted", "completed"],
          );
          const records = yield* journal.read({ ...thread, after: 0, limit: 100 });
          const of = (runId: RunId) =>
            records.flatMap(({ record }) => (record.runId === runId ? [record._tag] : []));
          assert.deepStrictEqual(of(second.runId), ["RunOpened", "AbortRequested", "RunSettled"]);
          assert.strictEqual(of(first.runId).filter((kind) => kind === "AttemptStarted").length, 1);
          for (const [index, stored] of records.entries())
            assert.strictEqual(stored.previousDigest, records[index - 1]?.digest ?? "0".repeat(64));
        }).pipe(Effect.provide(layer));
      }),
  );
});
