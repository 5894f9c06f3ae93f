import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Option, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { RunEvent } from "#lib/contract/events.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  errorTagOf,
  eventsOfKind,
  inVirtualTime,
  resultsIn,
  terminalEvents,
  watch,
} from "#tests/engine/run-agent.ts";
import { makeWorker, workerAgent } from "#tests/engine/worker-tools.ts";

describe("what a failed call means for its run (F-11 to F-15)", () => {
  const call = (id: string, name: string, millis = 0) => ({ id, name, params: { millis } });

  it.effect(
    "[F-11] a failure returned to the model whose sibling propagates: the run fails and the model is not asked",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          toolCalls([call("soft", "try", 1), call("hard", "fail", 50)]),
          text("never"),
        ]).pipe(inVirtualTime);
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallFailed").map((event) => event.failureHandling),
          ["returned-to-model", "propagated"],
        );
        assert.strictEqual(run.error, worker.failure);
        assert.strictEqual(run.requests.length, 1);
      }),
  );

  it("[F-10] an event of an older version without mode and route still decodes, and says neither", () => {
    const decoded = Schema.decodeUnknownSync(RunEvent)({
      _tag: "ToolCallFailed",
      turn: 1,
      callId: "c1",
      toolName: "search",
      rejected: false,
      result: null,
    });
    assert.isFalse("failureHandling" in decoded);
    assert.isFalse("failureMode" in decoded);
  });

  it.effect(
    "[F-12] a handler that catches its own error is a success; nothing is called a failure",
    () =>
      Effect.gen(function* () {
        const Careful = Tool.make("careful", { success: Schema.String });
        const toolkit = Toolkit.make(Careful);
        const agent = Agent.make("careful", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit,
        });
        const layer = toolkit.toLayer({
          careful: () => Effect.orElseSucceed(Effect.fail("inner"), () => "fallback"),
        });
        const run = yield* watch(agent, layer, [
          toolCalls([{ id: "c", name: "careful" }]),
          text("ok"),
        ]);
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallFailed"), []);
        assert.deepStrictEqual(resultsIn(run.requests[1]), [["c", "fallback", false]]);
      }),
  );

  it.effect(
    "[F-13][R39] three failed calls in a row end the run with the call that reached the limit",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent({ repeatedFailureLimit: 3 }), worker.layer, [
          toolCalls([call("a", "try", 1)]),
          toolCalls([call("b", "try", 1)]),
          toolCalls([call("c", "try", 1)]),
          text("never"),
        ]).pipe(inVirtualTime);
        assert.strictEqual(errorTagOf(run), "AgentRepeatedFailureError");
        assert.include(run.error, { toolCallId: "c", toolName: "try", limit: 3, seen: 3 });
        assert.strictEqual(run.requests.length, 3);
        const failed = terminalEvents(run.events)[0];
        assert.strictEqual(
          failed?._tag === "RunFailed" ? failed.finishReason : undefined,
          "budget-exhausted",
        );
      }),
  );

  it.effect("[F-13] a success in between starts the count again", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent({ repeatedFailureLimit: 3 }), worker.layer, [
        toolCalls([call("a", "try", 1), call("b", "try", 1), call("c", "work")]),
        toolCalls([call("d", "try", 1), call("e", "try", 1)]),
        text("ok"),
      ]).pipe(inVirtualTime);
      assert.isTrue(Exit.isSuccess(run.exit));
    }),
  );

  it.effect("[F-13] a batch is counted in declaration order, whatever finishes first", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent({ repeatedFailureLimit: 3 }), worker.layer, [
        toolCalls([
          call("a", "try", 1),
          call("b", "try", 31),
          call("c", "try", 61),
          call("d", "work", 10),
        ]),
        text("never"),
      ]).pipe(inVirtualTime);
      assert.strictEqual(errorTagOf(run), "AgentRepeatedFailureError");
    }),
  );

  it.effect("[F-13] the limit 0 never ends a run", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const failing = Array.from({ length: 8 }, (_, index) =>
        toolCalls([call(`c${index}`, "try", 1)]),
      );
      const run = yield* watch(workerAgent({ repeatedFailureLimit: 0 }), worker.layer, [
        ...failing,
        text("ok"),
      ]).pipe(inVirtualTime);
      assert.isTrue(Exit.isSuccess(run.exit));
    }),
  );

  it.effect("[F-13] parameter rejections count as failed calls", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const bad = (id: string) => toolCalls([{ id, name: "try", params: { millis: "soon" } }]);
      const run = yield* watch(workerAgent({ repeatedFailureLimit: 2 }), worker.layer, [
        bad("a"),
        bad("b"),
        text("never"),
      ]);
      assert.strictEqual(errorTagOf(run), "AgentRepeatedFailureError");
      assert.deepStrictEqual(worker.log, []);
    }),
  );

  it.effect(
    "[F-14][R76][T-16][X-16] turns used up: one last answer without tools, finished as budget-exhausted",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent({ maxTurns: 2 }), worker.layer, [
          toolCalls([call("a", "work")]),
          toolCalls([call("b", "work")]),
          text("what I know so far"),
        ]);
        assert.deepInclude(Exit.isSuccess(run.exit) ? run.exit.value : {}, {
          output: "what I know so far",
          finishReason: "budget-exhausted",
        });
        assert.strictEqual(run.requests[2]?.toolChoice, "none");
        assert.deepStrictEqual(run.requests[2]?.tools, []);
        assert.deepStrictEqual(
          resultsIn(run.requests[2]).map(([id]) => id),
          ["a", "b"],
        );
        assert.deepStrictEqual(
          eventsOfKind(run.events, "TurnRecorded").at(-1)?.exposure.exposed,
          [],
        );
      }),
  );

  it.effect(
    "[F-14][B-09] a last answer that calls a tool all the same is the typed budget failure, and its call is seen",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent({ maxTurns: 1 }), worker.layer, [
          toolCalls([call("a", "work")]),
          toolCalls([call("b", "work")]),
        ]);
        assert.strictEqual(errorTagOf(run), "AgentBudgetExceeded");
        assert.deepInclude(run.error, { dimension: "turns", limit: 1 });
        assert.deepStrictEqual(
          worker.log.filter((entry) => entry.startsWith("start")),
          ["start a"],
        );
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallDeclared").map(({ callId }) => callId as string),
          ["a", "b"],
        );
      }),
  );

  it.effect("[F-14] with onExhaustion fail there is no last answer", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent({ maxTurns: 1, onExhaustion: "fail" }), worker.layer, [
        toolCalls([call("a", "work")]),
        text("never"),
      ]);
      assert.strictEqual(errorTagOf(run), "AgentBudgetExceeded");
      assert.strictEqual(run.requests.length, 1);
    }),
  );

  it.effect(
    "[F-14] a batch over the tool-call budget starts nothing and is told so before the last answer",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent({ maxToolCalls: 3 }), worker.layer, [
          toolCalls([call("a", "work"), call("b", "work")]),
          toolCalls([call("c", "work"), call("d", "work")]),
          text("enough"),
        ]);
        assert.deepStrictEqual(
          worker.log.filter((entry) => entry.startsWith("start")),
          ["start a", "start b"],
        );
        assert.deepStrictEqual(
          resultsIn(run.requests[2]).map(([id, , isFailure]) => [id, isFailure]),
          [
            ["a", false],
            ["b", false],
            ["c", true],
            ["d", true],
          ],
        );
        assert.deepInclude(Exit.isSuccess(run.exit) ? run.exit.value : {}, {
          finishReason: "budget-exhausted",
        });
      }),
  );

  it.effect("[F-15] Option.none is a success that the model can read", () =>
    Effect.gen(function* () {
      const Find = Tool.make("find", { success: Schema.Option(Schema.String) });
      const toolkit = Toolkit.make(Find);
      const agent = Agent.make("finder", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit,
      });
      const layer = toolkit.toLayer({ find: () => Effect.succeed(Option.none<string>()) });
      const run = yield* watch(agent, layer, [
        toolCalls([{ id: "c", name: "find" }]),
        text("nothing there"),
      ]);
      assert.isTrue(Exit.isSuccess(run.exit));
      const [result] = resultsIn(run.requests[1]);
      assert.strictEqual(result?.[2], false);
      assert.isNotNull(result?.[1]);
    }),
  );
});
