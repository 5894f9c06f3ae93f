/** An abort that arrives while a handler works reaches it, and what it started (R34). */
import { spawn } from "node:child_process";
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Layer, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { OperatorId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { abortRun } from "#server/operator/abort-run.ts";
import * as AuditPg from "#server/postgres/AuditPg.ts";
import {
  commandId,
  driverLayer,
  storeLayer,
  submit,
  tenantId,
} from "#tests/support/durable-host.ts";
import { makeTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const Convert = Tool.make("convert_video", { success: Schema.String });
const toolkit = Toolkit.make(Convert);
const agent = Agent.make("studio", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Convert.",
  toolkit,
});

const operator = {
  tenantId,
  operatorId: OperatorId.make("opr_test"),
  name: "Test",
  email: "test@localhost",
  role: "operator",
  proof: "bearer",
  credentialDigest: "0".repeat(64),
} as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await makeTestDatabase();
});
afterAll(() => database.drop());

/** A process of the handler's own, which lives for a minute unless it is killed. */
const child = Effect.acquireRelease(
  Effect.sync(() => {
    const process_ = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"]);
    return {
      process_,
      ended: new Promise<void>((resolve) => process_.on("exit", () => resolve())),
    };
  }),
  ({ ended, process_ }) => Effect.promise(() => (process_.kill("SIGKILL"), ended)),
);

describe("an abort while a handler works", () => {
  it.live(
    "[R34][DU-09][DU-12] interrupts the handler, whose process dies; its effect is recorded in doubt and the run settles aborted",
    () =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<number>();
        const handlers = toolkit.toLayer({
          convert_video: () =>
            Effect.scoped(
              Effect.gen(function* () {
                const { process_ } = yield* child;
                yield* Deferred.succeed(started, process_.pid ?? 0);
                return yield* Effect.never;
              }),
            ),
        });
        const sql = yield* SqlClient.SqlClient;
        const records = yield* Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          const journal = yield* Journal;
          const { runId, threadId } = yield* submit("studio", "convert", "key-abort-in-flight");
          const driving = yield* Effect.forkChild(driver.drive({ tenantId, threadId }));
          const pid = yield* Deferred.await(started);
          process.kill(pid, 0); // it is alive: this would throw
          yield* abortRun(operator, runId, {
            commandId: commandId("abort-in-flight"),
            reason: "wrong video",
          }).pipe(
            Effect.provide(Layer.succeed(Wakes, { wake: driver.nudge })),
            Effect.provide(
              AuditPg.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))),
            ),
          );
          yield* Fiber.join(driving);
          assert.throws(() => process.kill(pid, 0), "ESRCH");
          return yield* journal.read({ tenantId, threadId, after: 0, limit: 100 });
        }).pipe(
          Effect.provide(
            driverLayer(Effect.all([register(Agent.bind(agent, handlers))])).pipe(
              Layer.provideMerge(
                ScriptedModel.layer([
                  toolCalls([{ id: "c1", name: "convert_video" }]),
                  text("never"),
                ]),
              ),
            ),
          ),
        );
        assert.deepStrictEqual(
          records.flatMap(({ record }) =>
            record._tag === "ToolCallUnknown"
              ? [`${record.callId} unknown after ${record.afterSettlement ? "settlement" : "loss"}`]
              : record._tag === "RunSettled"
                ? [record.outcome]
                : [],
          ),
          ["c1 unknown after settlement", "aborted"],
        );
      }).pipe(Effect.provide(storeLayer(database.url))),
  );
});
