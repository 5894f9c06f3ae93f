import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
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

  // However a handler takes it, its host's end is neither its failure nor its doubt; recovery decides by class (DU-05).
  const never = Effect.never as Effect.Effect<string>;
  const manners: ReadonlyArray<readonly [string, Effect.Effect<string>]> = [
    ["waits", never],
    ["answers it with a result", Effect.catchCause(never, () => Effect.succeed("late"))],
    ["answers it with a defect", Effect.onInterrupt(never, () => Effect.die("closing failed"))],
    [
      "has a promise that fails when its signal is aborted",
      Effect.promise(
        (signal) =>
          new Promise<string>((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("aborted")));
          }),
      ),
    ],
  ];
  const batches = [["look"], ["put"], ["send"], ["look", "put", "send"]] as const;
  for (const [manner, handle] of manners)
    for (const names of batches)
      it.effect(
        `[F-03][DU-05] by its host, in ${names.join(" and ")}, which ${manner}: nothing is recorded of it, and the next attempt goes by its class`,
        () =>
          Effect.gen(function* () {
            const store = makeStore();
            const keys: Array<string | undefined> = [];
            const handlers = handlersOf(
              Effect.flatMap(CurrentToolCall, (identity) => {
                keys.push(identity?.idempotencyKey);
                return keys.length > names.length ? Effect.succeed("done") : handle;
              }),
            );
            const context = { concurrency: names.length };
            const running = yield* Effect.forkChild(attempt(store, agent, handlers, { context }));
            while (keys.length < names.length) yield* Effect.yieldNow;
            const before = store.appends.length;
            yield* Fiber.interrupt(running);
            assert.strictEqual(store.appends.length, before);

            const end = yield* attempt(store, agent, handlers, { context });
            const isInDoubt = names.some((name) => name === "send");
            assert.strictEqual(end._tag, isInDoubt ? "suspended" : "settled");
            assert.deepStrictEqual(
              kindOf(store, "ToolCallUnknown").map(({ callId, reason }) => [callId, reason]),
              isInDoubt ? [["send", "process-lost"]] : [],
            );
            // What is in doubt stops its siblings; what may run again has run again, as the same call.
            assert.strictEqual(keys.length, isInDoubt ? names.length : 2);
            assert.strictEqual(new Set(keys).size, names.length);
          }).pipe(withModel(toolCalls(names.map((name) => call(name, name))), text("done"))),
      );
});
