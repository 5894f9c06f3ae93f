import { assert, describe, it } from "@effect/vitest";
import { Cause, Deferred, Effect, Exit, Fiber, Schema, Stream } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  attempt,
  kindOf,
  makeStore,
  openUnknowns,
  recordsOf,
} from "#tests/engine/durable-harness.ts";
import {
  errorTagOf,
  eventsOfKind,
  inVirtualTime,
  resultsIn,
  terminalEvents,
  watch,
} from "#tests/engine/run-agent.ts";
import { makeWorker, workerAgent } from "#tests/engine/worker-tools.ts";

const call = (id: string, name: string, millis = 0) => ({ id, name, params: { millis } });

describe("bounds (B-03, B-04)", () => {
  it.effect("[B-03] 200 calls with concurrency 3 never have more than 3 handlers open", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const calls = Array.from({ length: 200 }, (_, index) => call(`c${index}`, "work", 5));
      const run = yield* watch(
        workerAgent({ toolConcurrency: 3, maxToolCalls: 200 }),
        worker.layer,
        [toolCalls(calls), text("ok")],
      ).pipe(inVirtualTime);
      assert.isTrue(Exit.isSuccess(run.exit));
      assert.strictEqual(worker.highest(), 3);
      assert.strictEqual(worker.log.filter((entry) => entry.startsWith("start")).length, 200);
    }),
  );

  it.effect(
    "[scenario 6][S-01][B-03] 500 calls, policy 4, override 16: never more than 4 open",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const calls = Array.from({ length: 500 }, (_, index) => call(`c${index}`, "work", 1));
        const run = yield* watch(
          workerAgent({ toolConcurrency: 4, maxToolCalls: 500 }),
          worker.layer,
          [toolCalls(calls), text("ok")],
          {
            run: {
              scheduling: {
                override: { mode: "concurrent", max: 16 },
                toolRequiresSequential: () => false,
              },
            },
          },
        ).pipe(inVirtualTime);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.strictEqual(worker.highest(), 4);
      }),
  );

  it.effect(
    "[B-04][R22] 1,000 calls behind 2 blocked handlers start exactly 2, and each of them once in the end",
    () =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>();
        const started: Array<string> = [];
        const Gated = Tool.make("gated", { success: Schema.String });
        const tools = Toolkit.make(Gated);
        const agent = Agent.make("gated", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: tools,
          policy: { toolConcurrency: 2, maxToolCalls: 1_000 },
        });
        const layer = tools.toLayer({
          gated: (_, { toolCallId }) =>
            Effect.andThen(
              Effect.sync(() => void started.push(String(toolCallId))),
              Effect.as(Deferred.await(gate), "ok"),
            ),
        });
        const calls = Array.from({ length: 1_000 }, (_, index) => ({
          id: `c${index}`,
          name: "gated",
        }));
        const fiber = yield* Effect.forkChild(watch(agent, layer, [toolCalls(calls), text("ok")]));
        while (started.length < 2) yield* Effect.yieldNow;
        for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow;
        assert.deepStrictEqual(started, ["c0", "c1"]);
        yield* Deferred.succeed(gate, undefined);
        const run = yield* Fiber.join(fiber);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.strictEqual(new Set(started).size, 1_000);
        assert.strictEqual(started.length, 1_000);
      }),
  );

  it.effect("[R22][F-14] a tool-call budget below the batch refuses it before any handler", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const calls = Array.from({ length: 800 }, (_, index) => call(`c${index}`, "work"));
      const run = yield* watch(workerAgent({ maxToolCalls: 100 }), worker.layer, [
        toolCalls(calls),
        text("gave up"),
      ]);
      assert.deepStrictEqual(worker.log, []);
      assert.isTrue(Exit.isSuccess(run.exit));
    }),
  );

  it.effect(
    "[R23][RT-01] one hanging call among 50 lets the others finish and ends at the run's time limit",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const calls = [
          { id: "stuck", name: "hang" },
          ...Array.from({ length: 49 }, (_, index) => call(`c${index}`, "work", 5)),
        ];
        const run = yield* watch(
          workerAgent({ maxToolCalls: 50, maxDurationMillis: 2_000 }),
          worker.layer,
          [toolCalls(calls)],
        ).pipe(inVirtualTime);
        assert.strictEqual(worker.log.filter((entry) => entry.startsWith("end")).length, 49);
        assert.include(worker.log, "over stuck");
        assert.strictEqual(errorTagOf(run), "AgentBudgetExceeded");
        assert.strictEqual(eventsOfKind(run.events, "ToolCallUnknown").length, 1);
      }),
  );

  it.effect("[RT-01] a model that never answers ends at the run's time limit", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent({ maxDurationMillis: 1_000 }), worker.layer, [
        text("late", { delay: "1 hour" }),
      ]).pipe(inVirtualTime);
      assert.strictEqual(errorTagOf(run), "AgentBudgetExceeded");
      assert.strictEqual(terminalEvents(run.events).length, 1);
    }),
  );
});

describe("order (B-05)", () => {
  it.effect(
    "[scenario 5][B-05][R20] calls that finish 3, 1, 2 are seen live in that order and by the model as 1, 2, 3",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          toolCalls([call("c1", "work", 40), call("c2", "work", 60), call("c3", "work", 20)]),
          text("ok"),
        ]).pipe(inVirtualTime);
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallSucceeded").map((event) => event.callId as string),
          ["c3", "c1", "c2"],
        );
        assert.deepStrictEqual(
          resultsIn(run.requests[1]).map(([id]) => id),
          ["c1", "c2", "c3"],
        );
      }),
  );

  it.effect("[R28] the same response completing in another order gives the same prompt bytes", () =>
    Effect.gen(function* () {
      const prompts = yield* Effect.forEach(
        [
          [10, 20, 30],
          [30, 20, 10],
        ],
        (millis) => {
          // The arguments are the same; only the real durations differ.
          const worker = makeWorker((id) => millis[Number(id.slice(1))] ?? 0);
          return watch(workerAgent(), worker.layer, [
            toolCalls(millis.map((_, index) => call(`c${index}`, "work"))),
            text("ok"),
          ]).pipe(
            inVirtualTime,
            Effect.map((run) => JSON.stringify(run.requests[1]?.encodedPrompt)),
          );
        },
      );
      assert.strictEqual(prompts[0], prompts[1]);
    }),
  );

  it.effect(
    "[R32] a provider that reuses a call id in the next turn makes a new call, not a replay",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          toolCalls([call("call_0", "work")]),
          toolCalls([call("call_0", "mutate")]),
          text("ok"),
        ]);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.strictEqual(worker.log.filter((entry) => entry.startsWith("start")).length, 2);
        assert.deepStrictEqual(
          resultsIn(run.requests[2]).map(([id, result]) => [id, result]),
          [
            ["call_0", "done call_0"],
            ["call_0", "mutated call_0"],
          ],
        );
      }),
  );

  it.effect(
    "[B-09] every declared call is an event with its whole arguments and who executes it",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          toolCalls([call("a", "work"), call("b", "read")]),
          text("ok"),
        ]);
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallDeclared").map(
            ({ callId, executionClass, index, parameters, providerExecuted }) => ({
              callId: callId as string,
              executionClass,
              index,
              parameters,
              providerExecuted,
            }),
          ),
          [
            {
              callId: "a",
              executionClass: "uncertain",
              index: 0,
              parameters: { millis: 0 },
              providerExecuted: false,
            },
            {
              callId: "b",
              executionClass: "readonly",
              index: 1,
              parameters: { millis: 0 },
              providerExecuted: false,
            },
          ],
        );
      }),
  );
});

describe("siblings and interruption (B-06 to B-08)", () => {
  it.effect(
    "[B-06][DU-03][R64] a process lost after 1 of 3 calls settled: the next request has all three in order",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const worker = makeWorker();
        const agent = workerAgent({ toolConcurrency: 1 });
        const scripted = toolCalls([call("a", "read"), call("b", "read"), call("c", "read")]);
        yield* Effect.gen(function* () {
          // Appends: opening, turn, settled a. The process is lost after the third.
          const first = yield* attempt(store, agent, () => worker.layer, {
            crash: { append: 3, landed: true },
          });
          assert.strictEqual(first._tag, "lost");
          const second = yield* attempt(store, agent, () => worker.layer);
          assert.strictEqual(second._tag, "settled");
          const model = yield* ScriptedModel;
          const requests = yield* model.requests;
          assert.strictEqual(requests.length, 2);
          assert.deepStrictEqual(
            resultsIn(requests[1]).map(([id, result]) => [id, result]),
            [
              ["a", "read a"],
              ["b", "read b"],
              ["c", "read c"],
            ],
          );
        }).pipe(Effect.provide(ScriptedModel.layer([scripted, text("ok")])));
        assert.deepStrictEqual(
          worker.log.filter((entry) => entry === "start a"),
          ["start a"],
        );
      }),
  );

  it.effect(
    "[B-07][R34] interrupting a run interrupts its handlers, runs their finalizers and reports no success",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const events = yield* Effect.gen(function* () {
          const handle = yield* AgentRuntime.start(workerAgent(), "go");
          const collecting = yield* Effect.forkChild(Stream.runCollect(handle.events));
          while (!worker.log.includes("start a")) yield* Effect.yieldNow;
          yield* handle.interrupt;
          assert.include(worker.log, "over a");
          const exit = yield* Effect.exit(handle.await);
          assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause));
          return yield* Fiber.join(collecting);
        }).pipe(
          Effect.scoped,
          Effect.provide([
            worker.layer,
            ScriptedModel.layer([toolCalls([{ id: "a", name: "hang" }])]),
          ]),
        );
        assert.deepStrictEqual(
          terminalEvents(events).map((event) => event._tag),
          ["RunInterrupted"],
        );
        assert.deepStrictEqual(eventsOfKind(events, "ToolCallSucceeded"), []);
        assert.deepStrictEqual(eventsOfKind(events, "ToolCallFailed"), []);
      }),
  );

  it.effect(
    "[scenario 19][B-08][R25][DU-09] a failing call interrupts its sibling, whose effect is recorded as in doubt, and the run fails",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const worker = makeWorker();
        const agent = workerAgent();
        const end = yield* attempt(store, agent, () => worker.layer).pipe(
          Effect.provide(
            ScriptedModel.layer([
              toolCalls([
                call("done", "work", 5),
                call("bad", "fail", 20),
                call("flying", "work", 500),
                call("reading", "read", 500),
                call("waiting", "work"),
              ]),
            ]),
          ),
          inVirtualTime,
        );
        assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "failed");
        assert.include(worker.log, "over flying");
        assert.notInclude(worker.log, "end flying");
        assert.deepStrictEqual(
          kindOf(store, "ToolCallSettled").map(({ callId, kind }) => [callId as string, kind]),
          [
            ["done", "succeeded"],
            ["waiting", "succeeded"],
            ["bad", "failed"],
          ],
        );
        const doubts = kindOf(store, "ToolCallUnknown");
        assert.deepStrictEqual(
          doubts.map(({ afterSettlement, callId }) => [callId as string, afterSettlement]),
          [["flying", true]],
        );
        assert.strictEqual(recordsOf(store).at(-1)?._tag, "RunSettled");
        assert.strictEqual(kindOf(store, "RunSettled").length, 1);
      }),
  );

  it.effect("[R24] one of 13 fails after the others finished: all 13 have a recorded end", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const worker = makeWorker();
      const calls = [
        ...Array.from({ length: 12 }, (_, index) => call(`c${index}`, "work")),
        call("bad", "fail", 50),
      ];
      const end = yield* attempt(
        store,
        workerAgent({ toolConcurrency: 13 }),
        () => worker.layer,
      ).pipe(Effect.provide(ScriptedModel.layer([toolCalls(calls)])), inVirtualTime);
      assert.strictEqual(end._tag, "settled");
      assert.strictEqual(kindOf(store, "ToolCallSettled").length, 13);
      assert.strictEqual(kindOf(store, "ToolCallUnknown").length, 0);
    }),
  );

  it.effect(
    "[B-08] a defect beside a running call leaves both recorded as in doubt and settles once",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const worker = makeWorker();
        const end = yield* attempt(store, workerAgent(), () => worker.layer).pipe(
          Effect.provide(
            ScriptedModel.layer([toolCalls([call("bug", "die", 10), call("flying", "work", 500)])]),
          ),
          inVirtualTime,
        );
        assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "defect");
        assert.deepStrictEqual(
          kindOf(store, "ToolCallUnknown").map(({ callId }) => callId as string),
          ["bug", "flying"],
        );
        assert.strictEqual(openUnknowns(store).length, 2);
        assert.strictEqual(kindOf(store, "RunSettled").length, 1);
      }),
  );

  it.effect(
    "[scenario 7][S-02][R27] a barrier in the middle overlaps nothing and its neighbours still overlap",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(
          workerAgent(),
          worker.layer,
          [
            toolCalls([
              call("r1", "read", 20),
              call("r2", "read", 20),
              call("M", "mutate", 20),
              call("r3", "read", 20),
              call("r4", "read", 20),
            ]),
            text("ok"),
          ],
          {
            run: {
              scheduling: {
                override: { mode: "concurrent", max: 4 },
                toolRequiresSequential: (name) => name === "mutate",
              },
            },
          },
        ).pipe(inVirtualTime);
        assert.isTrue(Exit.isSuccess(run.exit));
        const at = (entry: string) => worker.log.indexOf(entry);
        assert.isBelow(at("start r2"), at("end r1"));
        assert.isBelow(Math.max(at("over r1"), at("over r2")), at("start M"));
        assert.isBelow(at("over M"), Math.min(at("start r3"), at("start r4")));
        assert.isBelow(at("start r4"), at("end r3"));
      }),
  );
});
