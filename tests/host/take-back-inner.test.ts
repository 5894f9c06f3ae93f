import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { RunId, TenantId } from "#lib/contract/ids.ts";
import { RunDurability } from "#lib/engine/RunDurability.ts";
import { interpret } from "#lib/engine/RunLoop.ts";
import { makeDrainGate } from "#lib/host/drain-gate.ts";
import { takeBack } from "#lib/host/take-back.ts";
import { ScriptedModel } from "#lib/testing/ScriptedModel.ts";
import { call, makeDesk, makeHandlers, outerOnce } from "#tests/broker/desk.ts";
import {
  contextOf,
  kindOf,
  makeProcess,
  makeStore,
  openUnknowns,
  recordsOf,
} from "#tests/engine/durable-harness.ts";

const run = { tenantId: TenantId.make("tenant"), runId: RunId.make("run-1") };

describe("a promise of a call inside another that its host takes back", () => {
  for (const tool of ["send", "put"])
    it.effect(
      `[DU-04][CM-01] is not doubted again by a program that does not wait for its ${tool}`,
      () =>
        Effect.gen(function* () {
          const store = makeStore();
          const desk = makeDesk();
          const handlers = makeHandlers(desk, (broker) =>
            broker.invoke(call(tool, "a")).pipe(
              Effect.timeout("4 seconds"),
              Effect.orElseSucceed(() => "gave up"),
            ),
          );
          const { durability } = yield* makeProcess(store, undefined);
          const context = yield* contextOf(desk.agent, handlers.layer(), store);
          const gate = makeDrainGate();
          const slow = RunDurability.of({
            ...durability,
            // The promise of the inner call takes the store longer than the drain lasts.
            record: (records, ...rest) =>
              records.some((one) => one._tag === "ToolCallPrepared" && one.parentCallId)
                ? Effect.andThen(Effect.sleep("3 seconds"), durability.record(records, ...rest))
                : durability.record(records, ...rest),
          });
          const attempt = yield* interpret(context, [], []).pipe(
            Effect.provideServiceEffect(
              RunDurability,
              gate.guard(slow, (promised, now) => takeBack(run, recordsOf(store), promised, now)),
            ),
            Effect.scoped,
            Effect.forkChild,
          );
          yield* TestClock.adjust("1 millis");
          const closing = yield* Effect.forkChild(gate.close(1_500));
          yield* TestClock.adjust("10 seconds");
          yield* Fiber.join(closing);
          yield* Fiber.interrupt(attempt);
          assert.deepStrictEqual(handlers.log, ["outer"]);
          assert.deepStrictEqual(openUnknowns(store), []);
          const doubts = kindOf(store, "ToolCallUnknown").map(({ unknownId }) => unknownId);
          assert.strictEqual(doubts.length, tool === "send" ? 1 : 0);
        }).pipe(Effect.provide(ScriptedModel.layer(outerOnce))),
    );
});
