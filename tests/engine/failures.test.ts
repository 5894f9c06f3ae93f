import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Option, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { RunEvent } from "#lib/contract/events.ts";
import { text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { errorTagOf, eventsOfKind, inVirtualTime, resultsIn, terminalEvents, watch } from "#tests/engine/run-agent.ts";
import { makeWorker, WorkFailed, workerAgent } from "#tests/engine/worker-tools.ts";

type Boundary = "declared-failure" | "defect" | "interruption" | "encoding" | "parameters";
const modes = ["error", "return"] as const;

/** One tool that fails in the way the row says, in the mode the column says. */
const makeBoundary = (boundary: Boundary, failureMode: (typeof modes)[number]) => {
  const options = {
    parameters: Schema.Struct({ n: Schema.Int }),
    success: Schema.Unknown,
    failure: WorkFailed,
  };
  const Broken = failureMode === "return" ? Tool.make("broken", { ...options, failureMode: "return" }) : Tool.make("broken", options);
  const toolkit = Toolkit.make(Broken);
  const failure = new WorkFailed({ message: "broken", code: 7 });
  let started = 0;
  const layer = toolkit.toLayer({
    broken: () => {
      started += 1;
      switch (boundary) {
        case "declared-failure":
          return Effect.fail(failure);
        case "defect":
          return Effect.die(new RangeError("bug"));
        case "interruption":
          return Effect.interrupt;
        case "encoding":
          return Effect.succeed({ amount: 10n });
        case "parameters":
          return Effect.succeed("never reached");
      }
    },
  });
  const agent = Agent.make("boundary", { input: Schema.String, output: Schema.String, instructions: "Go.", toolkit });
  const params = boundary === "parameters" ? { n: "one" } : { n: 1 };
  const script: ReadonlyArray<TurnScript> = [toolCalls([{ id: "c1", name: "broken", params }]), text("recovered")];
  return { run: watch(agent, layer, script), failure, started: () => started };
};

interface Expected {
  readonly completes: boolean;
  readonly handling: "propagated" | "returned-to-model" | undefined;
  readonly handlerStarts: number;
}

const table: Readonly<Record<Boundary, Readonly<Record<(typeof modes)[number], Expected>>>> = {
  "declared-failure": {
    error: { completes: false, handling: "propagated", handlerStarts: 1 },
    return: { completes: true, handling: "returned-to-model", handlerStarts: 1 },
  },
  defect: {
    error: { completes: false, handling: undefined, handlerStarts: 1 },
    return: { completes: false, handling: undefined, handlerStarts: 1 },
  },
  interruption: {
    error: { completes: false, handling: undefined, handlerStarts: 1 },
    return: { completes: false, handling: undefined, handlerStarts: 1 },
  },
  encoding: {
    error: { completes: false, handling: "propagated", handlerStarts: 1 },
    return: { completes: false, handling: "propagated", handlerStarts: 1 },
  },
  parameters: {
    error: { completes: false, handling: undefined, handlerStarts: 0 },
    return: { completes: true, handling: "returned-to-model", handlerStarts: 0 },
  },
};

const rules: Readonly<Record<Boundary, string>> = {
  "declared-failure": "[F-01][F-02]",
  defect: "[F-03]",
  interruption: "[F-03]",
  encoding: "[F-04][F-05][T-06]",
  parameters: "[F-06][F-07]",
};

describe("the failure table", () => {
  for (const boundary of Object.keys(table) as ReadonlyArray<Boundary>) {
    for (const mode of modes) {
      const expected = table[boundary][mode];
      const ending = expected.completes ? "completes" : "fails";
      it.effect(`[scenario 8][F-10]${rules[boundary]} ${boundary} in "${mode}" mode: the run ${ending}`, () =>
        Effect.gen(function* () {
          const { failure, run, started } = makeBoundary(boundary, mode);
          const watched = yield* run;
          assert.strictEqual(Exit.isSuccess(watched.exit), expected.completes);
          assert.strictEqual(started(), expected.handlerStarts);
          assert.strictEqual(eventsOfKind(watched.events, "ToolCallStarted").length, expected.handlerStarts);
          const failed = eventsOfKind(watched.events, "ToolCallFailed");
          assert.deepStrictEqual(
            failed.map((event) => [event.failureMode, event.failureHandling]),
            expected.handling === undefined ? [] : [[mode, expected.handling]],
          );
          assert.strictEqual(watched.requests.length, expected.completes ? 2 : 1);
          assert.strictEqual(terminalEvents(watched.events).length, 1);
          const cause = Exit.isFailure(watched.exit) ? watched.exit.cause : undefined;
          if (boundary === "declared-failure" && mode === "error") assert.strictEqual(watched.error, failure);
          if (boundary === "defect") assert.isTrue(cause !== undefined && Cause.hasDies(cause) && watched.error instanceof RangeError);
          if (boundary === "interruption") assert.isTrue(cause !== undefined && Cause.hasInterruptsOnly(cause));
          if (boundary === "encoding") assert.strictEqual(errorTagOf(watched), "AgentToolResultEncodingError");
          if (boundary === "parameters" && mode === "error") assert.strictEqual(errorTagOf(watched), "AgentToolCallRejected");
        }),
      );
    }
  }

  it.effect("[F-02] the model reads the encoded failure as a failed result", () =>
    Effect.gen(function* () {
      const { run } = makeBoundary("declared-failure", "return");
      const watched = yield* run;
      assert.deepStrictEqual(resultsIn(watched.requests[1]), [["c1", { _tag: "WorkFailed", message: "broken", code: 7 }, true]]);
    }),
  );

  it.effect("[F-04] an undeclared failure value of a return-mode tool never becomes a result", () =>
    Effect.gen(function* () {
      const Narrow = Tool.make("narrow", { failure: Schema.Literal("known"), failureMode: "return" });
      const toolkit = Toolkit.make(Narrow);
      const agent = Agent.make("narrow", { input: Schema.String, output: Schema.String, instructions: "Go.", toolkit });
      // A handler whose types lie: what it fails with is not what the tool declares.
      const layer = toolkit.toLayer({ narrow: () => Effect.fail("surprise" as "known") });
      const run = yield* watch(agent, layer, [toolCalls([{ id: "c1", name: "narrow" }]), text("never")]);
      assert.strictEqual(errorTagOf(run), "AgentToolResultEncodingError");
      assert.strictEqual(run.requests.length, 1);
    }),
  );
});

describe("rejected parameters (F-06)", () => {
  const Search = Tool.make("search", {
    parameters: Schema.Struct({ query: Schema.NonEmptyString }),
    success: Schema.Array(Schema.String),
    failure: WorkFailed,
    failureMode: "return",
  });
  const Action = Tool.make("action", { success: Schema.String, needsApproval: true });
  const toolkit = Toolkit.make(Search, Action);
  const agent = Agent.make("seeker", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Seek.",
    toolkit,
    policy: { maxToolCalls: 3 },
  });
  const makeSeeker = () => {
    const log: Array<string> = [];
    const layer = toolkit.toLayer({
      search: ({ query }) => Effect.sync(() => (log.push(`search ${query}`), [query])),
      action: () => Effect.sync(() => (log.push("action"), "acted")),
    });
    return { log, layer };
  };

  it.effect("[scenario 2][F-06][A-01][A-11] an empty query goes back to the model; only the valid call is approved and authorized", () =>
    Effect.gen(function* () {
      const { layer, log } = makeSeeker();
      const asked: Array<string> = [];
      const authorized: Array<string> = [];
      const run = yield* watch(
        agent,
        layer,
        [
          toolCalls([
            { id: "bad", name: "search", params: { query: "" } },
            { id: "act", name: "action" },
          ]),
          toolCalls([{ id: "good", name: "search", params: { query: "shoes" } }]),
          text("done"),
        ],
        {
          run: {
            approval: {
              resolve: (requests) => {
                asked.push(...requests.map((request) => request.toolName));
                return Effect.succeed(requests.map(() => ({ _tag: "approved", approvers: [{ kind: "operator", id: "o", name: "O" }] }) as const));
              },
            },
            toolAuthorization: {
              authorize: ({ call }) => Effect.as(Effect.sync(() => authorized.push(call.toolCallId)), { _tag: "allowed" as const }),
            },
          },
        },
      );
      assert.isTrue(Exit.isSuccess(run.exit));
      assert.deepStrictEqual(asked, ["action"]);
      assert.deepStrictEqual(authorized, ["act", "good"]);
      assert.deepStrictEqual(log, ["action", "search shoes"]);
      const failed = resultsIn(run.requests[1]).filter(([, , isFailure]) => isFailure);
      assert.strictEqual(failed.length, 1);
      assert.strictEqual(failed[0]?.[0], "bad");
      assert.include(JSON.stringify(failed[0]?.[1]), "ToolParameterValidationError");
      // Three of three calls are used: the rejected one counts.
      assert.strictEqual(eventsOfKind(run.events, "ToolCallDeclared").length, 3);
    }),
  );

  it.effect("[F-06][F-14] a rejected call counts toward the tool-call budget", () =>
    Effect.gen(function* () {
      const { layer, log } = makeSeeker();
      const search = (id: string, query: string) => ({ id, name: "search", params: { query } });
      const run = yield* watch(agent, layer, [
        toolCalls([search("a", ""), search("b", "x")]),
        toolCalls([search("c", "y"), search("d", "z")]),
        text("gave up"),
      ]);
      assert.deepStrictEqual(log, ["search x"]);
      assert.strictEqual(terminalEvents(run.events)[0]?._tag, "RunCompleted");
      assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallNotExecuted").map(({ callId }) => callId as string), ["c", "d"]);
    }),
  );

  it.effect("[R38] the failure names path and constraint, never the value", () =>
    Effect.gen(function* () {
      const { layer } = makeSeeker();
      const secret = "sk-canary-31337";
      const run = yield* watch(agent, layer, [
        toolCalls([{ id: "bad", name: "search", params: { query: { [secret]: secret } } }]),
        text("ok"),
      ]);
      const result = JSON.stringify(resultsIn(run.requests[1])[0]?.[1]);
      assert.include(result, "query");
      assert.notInclude(result, secret);
      assert.isBelow(result.length, 2_000);
    }),
  );

  it.effect("[R36][F-07] arguments that are no JSON end the run with an error that names tool and call", () =>
    Effect.gen(function* () {
      const { layer, log } = makeSeeker();
      const run = yield* watch(agent, layer, [
        toolCalls([
          { id: "ok", name: "search", params: { query: "x" } },
          { id: "cut", name: "search", argumentsText: '{"query":"sho' },
        ]),
      ]);
      assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
      assert.include(String((run.error as Error).message), "search");
      assert.include(String((run.error as Error).message), "cut");
      assert.deepStrictEqual(log, []);
      assert.strictEqual(terminalEvents(run.events).length, 1);
    }),
  );
});

describe("what a failed call means for its run (F-11 to F-15)", () => {
  const call = (id: string, name: string, millis = 0) => ({ id, name, params: { millis } });

  it.effect("[F-11] a failure returned to the model whose sibling propagates: the run fails and the model is not asked", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent(), worker.layer, [toolCalls([call("soft", "try", 1), call("hard", "fail", 50)]), text("never")]).pipe(
        inVirtualTime,
      );
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

  it.effect("[F-12] a handler that catches its own error is a success; nothing is called a failure", () =>
    Effect.gen(function* () {
      const Careful = Tool.make("careful", { success: Schema.String });
      const toolkit = Toolkit.make(Careful);
      const agent = Agent.make("careful", { input: Schema.String, output: Schema.String, instructions: "Go.", toolkit });
      const layer = toolkit.toLayer({ careful: () => Effect.orElseSucceed(Effect.fail("inner"), () => "fallback") });
      const run = yield* watch(agent, layer, [toolCalls([{ id: "c", name: "careful" }]), text("ok")]);
      assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallFailed"), []);
      assert.deepStrictEqual(resultsIn(run.requests[1]), [["c", "fallback", false]]);
    }),
  );

  it.effect("[F-13][R39] three failed calls in a row end the run with the call that reached the limit", () =>
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
      assert.strictEqual(failed?._tag === "RunFailed" ? failed.finishReason : undefined, "budget-exhausted");
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
        toolCalls([call("a", "try", 1), call("b", "try", 31), call("c", "try", 61), call("d", "work", 10)]),
        text("never"),
      ]).pipe(inVirtualTime);
      assert.strictEqual(errorTagOf(run), "AgentRepeatedFailureError");
    }),
  );

  it.effect("[F-13] the limit 0 never ends a run", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const failing = Array.from({ length: 8 }, (_, index) => toolCalls([call(`c${index}`, "try", 1)]));
      const run = yield* watch(workerAgent({ repeatedFailureLimit: 0 }), worker.layer, [...failing, text("ok")]).pipe(inVirtualTime);
      assert.isTrue(Exit.isSuccess(run.exit));
    }),
  );

  it.effect("[F-13] parameter rejections count as failed calls", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const bad = (id: string) => toolCalls([{ id, name: "try", params: { millis: "soon" } }]);
      const run = yield* watch(workerAgent({ repeatedFailureLimit: 2 }), worker.layer, [bad("a"), bad("b"), text("never")]);
      assert.strictEqual(errorTagOf(run), "AgentRepeatedFailureError");
      assert.deepStrictEqual(worker.log, []);
    }),
  );

  it.effect("[F-14][R76][T-16][X-16] turns used up: one last answer without tools, finished as budget-exhausted", () =>
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
      assert.deepStrictEqual(resultsIn(run.requests[2]).map(([id]) => id), ["a", "b"]);
      assert.deepStrictEqual(eventsOfKind(run.events, "TurnRecorded").at(-1)?.exposure.exposed, []);
    }),
  );

  it.effect("[F-14] a last answer that calls a tool all the same is the typed budget failure", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent({ maxTurns: 1 }), worker.layer, [toolCalls([call("a", "work")]), toolCalls([call("b", "work")])]);
      assert.strictEqual(errorTagOf(run), "AgentBudgetExceeded");
      assert.deepInclude(run.error, { dimension: "turns", limit: 1 });
      assert.deepStrictEqual(worker.log.filter((entry) => entry.startsWith("start")), ["start a"]);
    }),
  );

  it.effect("[F-14] with onExhaustion fail there is no last answer", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent({ maxTurns: 1, onExhaustion: "fail" }), worker.layer, [toolCalls([call("a", "work")]), text("never")]);
      assert.strictEqual(errorTagOf(run), "AgentBudgetExceeded");
      assert.strictEqual(run.requests.length, 1);
    }),
  );

  it.effect("[F-14] a batch over the tool-call budget starts nothing and is told so before the last answer", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const run = yield* watch(workerAgent({ maxToolCalls: 3 }), worker.layer, [
        toolCalls([call("a", "work"), call("b", "work")]),
        toolCalls([call("c", "work"), call("d", "work")]),
        text("enough"),
      ]);
      assert.deepStrictEqual(worker.log.filter((entry) => entry.startsWith("start")), ["start a", "start b"]);
      assert.deepStrictEqual(
        resultsIn(run.requests[2]).map(([id, , isFailure]) => [id, isFailure]),
        [
          ["a", false],
          ["b", false],
          ["c", true],
          ["d", true],
        ],
      );
      assert.deepInclude(Exit.isSuccess(run.exit) ? run.exit.value : {}, { finishReason: "budget-exhausted" });
    }),
  );

  it.effect("[F-15] Option.none is a success that the model can read", () =>
    Effect.gen(function* () {
      const Find = Tool.make("find", { success: Schema.Option(Schema.String) });
      const toolkit = Toolkit.make(Find);
      const agent = Agent.make("finder", { input: Schema.String, output: Schema.String, instructions: "Go.", toolkit });
      const layer = toolkit.toLayer({ find: () => Effect.succeed(Option.none<string>()) });
      const run = yield* watch(agent, layer, [toolCalls([{ id: "c", name: "find" }]), text("nothing there")]);
      assert.isTrue(Exit.isSuccess(run.exit));
      const [result] = resultsIn(run.requests[1]);
      assert.strictEqual(result?.[2], false);
      assert.isNotNull(result?.[1]);
    }),
  );
});
