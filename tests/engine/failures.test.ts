import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import {
  errorTagOf,
  eventsOfKind,
  resultsIn,
  terminalEvents,
  watch,
} from "#tests/engine/run-agent.ts";
import { WorkFailed } from "#tests/engine/worker-tools.ts";

type Boundary = "declared-failure" | "defect" | "interruption" | "encoding" | "parameters";

const modes = ["error", "return"] as const;

/** One tool that fails in the way the row says, in the mode the column says. */
const makeBoundary = (boundary: Boundary, failureMode: (typeof modes)[number]) => {
  const options = {
    parameters: Schema.Struct({ n: Schema.Int }),
    success: Schema.Unknown,
    failure: WorkFailed,
  };
  const Broken =
    failureMode === "return"
      ? Tool.make("broken", { ...options, failureMode: "return" })
      : Tool.make("broken", options);
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
  const agent = Agent.make("boundary", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit,
  });
  const params = boundary === "parameters" ? { n: "one" } : { n: 1 };
  const script: ReadonlyArray<TurnScript> = [
    toolCalls([{ id: "c1", name: "broken", params }]),
    text("recovered"),
  ];
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
      it.effect(
        `[scenario 8][F-10]${rules[boundary]} ${boundary} in "${mode}" mode: the run ${ending}`,
        () =>
          Effect.gen(function* () {
            const { failure, run, started } = makeBoundary(boundary, mode);
            const watched = yield* run;
            assert.strictEqual(Exit.isSuccess(watched.exit), expected.completes);
            assert.strictEqual(started(), expected.handlerStarts);
            assert.strictEqual(
              eventsOfKind(watched.events, "ToolCallStarted").length,
              expected.handlerStarts,
            );
            const failed = eventsOfKind(watched.events, "ToolCallFailed");
            assert.deepStrictEqual(
              failed.map((event) => [event.failureMode, event.failureHandling]),
              expected.handling === undefined ? [] : [[mode, expected.handling]],
            );
            assert.strictEqual(watched.requests.length, expected.completes ? 2 : 1);
            assert.strictEqual(terminalEvents(watched.events).length, 1);
            const cause = Exit.isFailure(watched.exit) ? watched.exit.cause : undefined;
            if (boundary === "declared-failure" && mode === "error")
              assert.strictEqual(watched.error, failure);
            if (boundary === "defect")
              assert.isTrue(
                cause !== undefined && Cause.hasDies(cause) && watched.error instanceof RangeError,
              );
            if (boundary === "interruption")
              assert.isTrue(cause !== undefined && Cause.hasInterruptsOnly(cause));
            if (boundary === "encoding")
              assert.strictEqual(errorTagOf(watched), "AgentToolResultEncodingError");
            if (boundary === "parameters" && mode === "error")
              assert.strictEqual(errorTagOf(watched), "AgentToolCallRejected");
          }),
      );
    }
  }

  it.effect("[F-02] the model reads the encoded failure as a failed result", () =>
    Effect.gen(function* () {
      const { run } = makeBoundary("declared-failure", "return");
      const watched = yield* run;
      assert.deepStrictEqual(resultsIn(watched.requests[1]), [
        ["c1", { _tag: "WorkFailed", message: "broken", code: 7 }, true],
      ]);
    }),
  );

  it.effect("[F-04] an undeclared failure value of a return-mode tool never becomes a result", () =>
    Effect.gen(function* () {
      const Narrow = Tool.make("narrow", {
        failure: Schema.Literal("known"),
        failureMode: "return",
      });
      const toolkit = Toolkit.make(Narrow);
      const agent = Agent.make("narrow", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Go.",
        toolkit,
      });
      // A handler whose types lie: what it fails with is not what the tool declares.
      const layer = toolkit.toLayer({ narrow: () => Effect.fail("surprise" as "known") });
      const run = yield* watch(agent, layer, [
        toolCalls([{ id: "c1", name: "narrow" }]),
        text("never"),
      ]);
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

  it.effect(
    "[scenario 2][F-06][A-01][A-11] an empty query goes back to the model; only the valid call is approved and authorized",
    () =>
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
                  return Effect.succeed(
                    requests.map(
                      () =>
                        ({
                          _tag: "approved",
                          approvers: [{ kind: "operator", id: "o", name: "O" }],
                        }) as const,
                    ),
                  );
                },
              },
              toolAuthorization: {
                authorize: ({ call }) =>
                  Effect.as(
                    Effect.sync(() => authorized.push(call.toolCallId)),
                    { _tag: "allowed" as const },
                  ),
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
      assert.deepStrictEqual(
        eventsOfKind(run.events, "ToolCallNotExecuted").map(({ callId }) => callId as string),
        ["c", "d"],
      );
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

  it.effect(
    "[R36][F-07] arguments that are no JSON end the run with an error that names tool and call",
    () =>
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
