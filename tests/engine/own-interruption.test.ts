import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { toolCalls } from "#lib/testing/ScriptedModel.ts";
import { attempt, kindOf, makeStore } from "#tests/engine/durable-harness.ts";
import { call, withModel } from "#tests/engine/keeper-tools.ts";

const options = { success: Schema.String } as const;
const Look = Tool.make("look", options).annotate(ToolExecutionClass, "readonly");
const Put = Tool.make("put", options).annotate(ToolExecutionClass, "idempotent");
const Send = Tool.make("send", options);
const toolkit = Toolkit.make(Look, Put, Send);
const agent = Agent.make("keeper", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Go.",
  toolkit,
});
const handlersOf = (handle: Effect.Effect<string>) => () =>
  toolkit.toLayer({ look: () => handle, put: () => handle, send: () => handle });

describe("a handler that is interrupted (F-03)", () => {
  for (const [name, doubts] of [
    ["look", 0],
    ["put", 1],
    ["send", 1],
  ] as const) {
    it.effect(
      `[F-03][DU-09] by itself, in ${name}: the run fails at once, with ${doubts} effect(s) in doubt, and is not tried again`,
      () =>
        Effect.gen(function* () {
          const store = makeStore();
          let started = 0;
          const handlers = handlersOf(
            Effect.suspend(() => {
              started += 1;
              return Effect.interrupt;
            }),
          );
          const end = yield* attempt(store, agent, handlers);
          assert.strictEqual(
            end._tag === "settled" ? end.settled.finishReason : end._tag,
            "defect",
          );
          assert.deepStrictEqual(
            kindOf(store, "ToolCallUnknown").map(({ afterSettlement, reason }) => [
              reason,
              afterSettlement,
            ]),
            Array.from({ length: doubts }, () => ["handler-defect", true]),
          );
          assert.strictEqual((yield* attempt(store, agent, handlers))._tag, "settled");
          assert.strictEqual(started, 1);
        }).pipe(withModel(toolCalls([call("a", name)]))),
    );
  }

  it.effect(
    "[F-03] by its host: nothing is settled, and the next attempt goes on from the records",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const reached = yield* Deferred.make<void>();
        const handlers = handlersOf(
          Effect.andThen(Deferred.succeed(reached, undefined), Effect.never),
        );
        const running = yield* Effect.forkChild(attempt(store, agent, handlers));
        yield* Deferred.await(reached);
        yield* Fiber.interrupt(running);
        assert.deepStrictEqual(kindOf(store, "RunSettled"), []);
        assert.strictEqual((yield* attempt(store, agent, handlers))._tag, "suspended");
        assert.deepStrictEqual(
          kindOf(store, "ToolCallUnknown").map(({ reason }) => reason),
          ["process-lost"],
        );
      }).pipe(withModel(toolCalls([call("a", "send")]))),
  );
});
