import { assert, it } from "@effect/vitest";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as Agent from "#lib/agent/Agent.ts";
import { AgentId, TenantId, WorkerId } from "#lib/contract/ids.ts";
import { Journal } from "#lib/durable/Journal.ts";
import { layerMemory } from "#lib/durable/memory/layer.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { AgentRegistry, register } from "#lib/host/AgentRegistry.ts";
import { ThreadDriver } from "#lib/host/ThreadDriver.ts";
import { bob } from "#lib/testing/conformance/harness.ts";
import { ada } from "#lib/testing/conformance/run-records.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";

const tenantId = TenantId.make("acme");

it.live(
  "[DU-03][DU-12] an abort that comes while a result is being written finds the result, and doubts only what was still running",
  () => {
    // Set once the host stands; said by the first append that carries a result, before it is written.
    const hook = { beforeResult: Effect.void as Effect.Effect<void> };
    const journal = Layer.effect(
      Journal,
      Effect.map(Journal, (below) =>
        Journal.of({
          ...below,
          append: (request) =>
            request.records.some(({ _tag }) => _tag === "ToolCallSettled")
              ? Effect.andThen(
                  Effect.suspend(() => hook.beforeResult),
                  below.append(request),
                )
              : below.append(request),
        }),
      ),
    ).pipe(Layer.provideMerge(layerMemory));
    return Effect.gen(function* () {
      const bothRun = yield* Deferred.make<void>();
      const Quick = Tool.make("quick", { success: Schema.String });
      const Slow = Tool.make("slow", { success: Schema.String });
      const toolkit = Toolkit.make(Quick, Slow);
      const agent = Agent.make("worker", {
        input: Schema.Json,
        output: Schema.String,
        instructions: "Work.",
        toolkit,
        policy: { toolConcurrency: 2 },
      });
      const handlers = toolkit.toLayer({
        quick: () => Effect.as(Deferred.await(bothRun), "done"),
        slow: () => Effect.andThen(Deferred.succeed(bothRun, undefined), Effect.never),
      });
      const host = ThreadDriver.layer(WorkerId.make("worker-1")).pipe(
        Layer.provideMerge(
          AgentRegistry.layer(Effect.all([register(Agent.bind(agent, handlers))])),
        ),
        Layer.provideMerge(
          ScriptedModel.layer([
            toolCalls([
              { id: "q", name: "quick" },
              { id: "s", name: "slow" },
            ]),
            text("done"),
          ]),
        ),
      );
      const ledger = yield* SubmissionLedger;
      const { runId, threadId } = yield* ledger.admit({
        tenantId,
        agentId: AgentId.make("worker"),
        threadId: undefined,
        principal: ada,
        idempotencyKey: "key",
        input: "work",
        title: "work",
      });
      const thread = { tenantId, threadId };
      yield* Effect.provide(
        Effect.gen(function* () {
          const driver = yield* ThreadDriver;
          hook.beforeResult = Effect.gen(function* () {
            hook.beforeResult = Effect.void;
            yield* Effect.orDie(
              ledger.abort({ tenantId, runId, actor: bob, reason: "stop", commandId: null }),
            );
            yield* driver.nudge(thread);
            // Long enough for the abort's own pass to begin, were it not to wait for the result.
            yield* Effect.sleep("100 millis");
          });
          yield* driver.drive(thread);
        }),
        host,
      );
      const stored = yield* (yield* Journal).read({ ...thread, runId, after: 0, limit: 1_000 });
      const ends = stored.flatMap(({ record }) =>
        record._tag === "ToolCallSettled" || record._tag === "ToolCallUnknown"
          ? [`${record._tag} ${record.callId}`]
          : record._tag === "RunSettled"
            ? [`${record._tag} ${record.outcome}`]
            : [],
      );
      assert.deepStrictEqual(ends, [
        "ToolCallSettled q",
        "ToolCallUnknown s",
        "RunSettled aborted",
      ]);
    }).pipe(Effect.provide(journal));
  },
);
