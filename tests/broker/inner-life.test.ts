import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber } from "effect";
import { RunDurability } from "#lib/engine/RunDurability.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { ToolBroker } from "#lib/tool-broker.ts";
import { call, caught, makeDesk, makeHandlers, runProgram } from "#tests/broker/desk.ts";
import { watch } from "#tests/engine/run-agent.ts";

describe("the life of a call inside a call", () => {
  it.effect(
    "[CM-01][B-07] a call that a program leaves running is interrupted with its outer call, and cannot be made later",
    () =>
      Effect.gen(function* () {
        const late = yield* Deferred.make<unknown>();
        const ended = yield* Deferred.make<void>();
        const run = yield* runProgram(
          (broker) =>
            Effect.gen(function* () {
              yield* Effect.forkDetach(broker.invoke(call("look", "hangs")));
              yield* Effect.forkDetach(
                Effect.andThen(
                  Deferred.await(ended),
                  Effect.flatMap(caught(broker.invoke(call("look", "late"))), (one) =>
                    Deferred.succeed(late, one),
                  ),
                ),
              );
              yield* Effect.yieldNow;
              yield* Effect.yieldNow;
              return "left";
            }),
          {
            behave: (id) =>
              id === "hangs"
                ? Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined))
                : Effect.succeed(id),
          },
        );
        assert.strictEqual(run.told, "left");
        yield* Deferred.await(ended);
        assert.deepInclude((yield* Deferred.await(late)) as object, { reason: "call-ended" });
        assert.notInclude(run.log, "look late");
      }),
  );

  it.effect(
    "[B-03][S-02] a call that was interrupted keeps its slot until its handler has ended: nothing runs beside what still closes",
    () =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<void>();
        const mayClose = yield* Deferred.make<void>();
        const order: Array<string> = [];
        const note = (what: string) => Effect.sync(() => void order.push(what));
        const run = yield* runProgram(
          (broker) =>
            Effect.gen(function* () {
              const first = yield* Effect.forkChild(broker.invoke(call("put", "first")));
              yield* Deferred.await(started);
              yield* Effect.forkChild(Fiber.interrupt(first));
              const second = yield* Effect.forkChild(broker.invoke(call("look", "second")));
              for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow;
              yield* Deferred.succeed(mayClose, undefined);
              return yield* Fiber.join(second);
            }),
          {
            behave: (id) =>
              id === "first"
                ? Effect.onInterrupt(
                    Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
                    () => Effect.andThen(Deferred.await(mayClose), note("first closed")),
                  )
                : Effect.as(note("second runs"), id),
            run: {
              run: {
                scheduling: {
                  override: { mode: "concurrent", max: 3 },
                  toolRequiresSequential: (name) => name === "put",
                },
              },
            },
          },
        );
        assert.isNotEmpty(run.log);
        assert.deepStrictEqual(order, ["first closed", "second runs"]);
      }),
  );

  it.effect(
    "[B-03][S-02] at most the run's concurrency of inner calls at once, and a barrier tool beside none of them",
    () =>
      Effect.gen(function* () {
        let running = 0;
        const seen: Array<readonly [string, number]> = [];
        const run = yield* runProgram(
          (broker) =>
            Effect.all(
              ["1", "2", "3", "4"].flatMap((id) => [
                broker.invoke(call("look", `l${id}`)),
                broker.invoke(call("put", `p${id}`)),
              ]),
              { concurrency: "unbounded" },
            ),
          {
            desk: { policy: { toolConcurrency: 3 } },
            run: {
              run: {
                scheduling: {
                  override: { mode: "concurrent", max: 3 },
                  toolRequiresSequential: (name) => name === "put",
                },
              },
            },
            behave: (id) =>
              Effect.gen(function* () {
                running += 1;
                for (let turn = 0; turn < 5; turn++) {
                  seen.push([id, running]);
                  yield* Effect.yieldNow;
                }
                running -= 1;
                return id;
              }),
          },
        );
        assert.isString(run.told);
        const most = (prefix: string) =>
          Math.max(...seen.filter(([id]) => id.startsWith(prefix)).map(([, count]) => count));
        assert.strictEqual(most("p"), 1);
        assert.strictEqual(most("l"), 3);
      }),
  );

  it.effect(
    "[S-02] a tool that may call a barrier tool is a barrier itself: nothing of its batch runs beside it",
    () =>
      Effect.gen(function* () {
        const desk = makeDesk({ allow: { toolNames: ["put"] } });
        let outerRuns = false;
        const overlaps: Array<string> = [];
        const { layer } = makeHandlers(
          desk,
          (broker) =>
            Effect.gen(function* () {
              outerRuns = true;
              for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow;
              const value = yield* broker.invoke(call("put", "p"));
              outerRuns = false;
              return value;
            }),
          (id) =>
            Effect.gen(function* () {
              for (let turn = 0; turn < 10; turn++) {
                if (outerRuns && id !== "p") overlaps.push(id);
                yield* Effect.yieldNow;
              }
              return id;
            }),
        );
        const batch = [
          toolCalls([
            { id: "a", name: "look", params: { id: "a" } },
            { id: "o", name: "outer" },
            { id: "b", name: "look", params: { id: "b" } },
          ]),
          text("done"),
        ];
        const run = yield* watch(desk.agent, layer(), batch, {
          run: {
            scheduling: {
              override: { mode: "concurrent", max: 4 },
              toolRequiresSequential: (name) => name === "put",
            },
          },
        });
        assert.strictEqual(run.requests.length, 2);
        assert.deepStrictEqual(overlaps, []);
      }),
  );

  it.effect(
    "[CM-02][DU-01] what a program provides around a call does not replace where its facts are recorded",
    () =>
      Effect.gen(function* () {
        const run = yield* runProgram((broker) =>
          Effect.provideService(
            broker.invoke(call("send", "a")),
            RunDurability,
            {} as RunDurability["Service"], // any use of it would throw
          ),
        );
        assert.strictEqual(run.told, "did a");
        assert.strictEqual(run.starts.length, 2);
      }),
  );

  it.effect("[CM-01] outside of a tool with programmatic tools the broker refuses everything", () =>
    Effect.gen(function* () {
      const broker = yield* ToolBroker;
      assert.deepStrictEqual(yield* broker.toolNames, []);
      assert.deepInclude((yield* caught(broker.invoke(call("send", "a")))) as object, {
        _tag: "ProgrammaticToolNotAllowed",
      });
    }),
  );

  it.effect("[CM-01] an inner handler gets no broker of its outer call", () =>
    Effect.gen(function* () {
      let inside: unknown;
      const run = yield* runProgram((broker) => broker.invoke(call("look", "a")), {
        behave: () =>
          Effect.gen(function* () {
            const broker = yield* ToolBroker;
            inside = yield* caught(broker.invoke(call("send", "b")));
            return "done";
          }),
      });
      assert.deepInclude(inside as object, { _tag: "ProgrammaticToolNotAllowed" });
      assert.deepStrictEqual(run.log, ["outer", "look a"]);
    }),
  );
});
