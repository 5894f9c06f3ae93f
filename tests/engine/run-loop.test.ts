import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Layer, Ref, Schema, Stream } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { RunToolAuthorization } from "#lib/run-options.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";

class SearchUnavailable extends Schema.TaggedError<SearchUnavailable>()("SearchUnavailable", {
  message: Schema.String,
}) {}

const Search = Tool.make("search", {
  parameters: Schema.Struct({ query: Schema.NonEmptyString }),
  success: Schema.Array(Schema.String),
  failure: SearchUnavailable,
  failureMode: "return",
});
const Act = Tool.make("act", { parameters: Schema.Struct({ count: Schema.NumberFromString }) });
const Fail = Tool.make("fail", { failure: SearchUnavailable });
const toolkit = Toolkit.make(Search, Act, Fail);
const agent = Agent.make("worker", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Do the work.",
  toolkit,
});

const makeHandlers = Effect.gen(function* () {
  const calls = yield* Ref.make<ReadonlyArray<string>>([]);
  const note = (entry: string) => Ref.update(calls, (all) => [...all, entry]);
  const layer = toolkit.toLayer({
    search: ({ query }) => Effect.as(note(`search ${query}`), [`found ${query}`]),
    act: ({ count }) => note(`act ${typeof count} ${count}`),
    fail: () =>
      Effect.andThen(note("fail"), Effect.fail(new SearchUnavailable({ message: "down" }))),
  });
  return { layer, calls: Ref.get(calls) };
});

describe("the run loop", () => {
  it.effect("a run without tools answers with the model's text", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeHandlers;
      const result = yield* AgentRuntime.run(agent, "hello").pipe(
        Effect.provide([layer, ScriptedModel.layer([text("hi there")])]),
      );
      assert.strictEqual(result.output, "hi there");
    }),
  );

  it.effect(
    "[T-03][T-05] handlers get decoded values, history the encoded ones, and Void becomes null",
    () =>
      Effect.gen(function* () {
        const { layer, calls } = yield* makeHandlers;
        const [result, requests] = yield* Effect.gen(function* () {
          const result = yield* AgentRuntime.run(agent, "go");
          const model = yield* ScriptedModel;
          return [result, yield* model.requests] as const;
        }).pipe(
          Effect.provide([
            layer,
            ScriptedModel.layer([
              toolCalls([{ id: "c1", name: "act", params: { count: "7" } }]),
              text("done"),
            ]),
          ]),
        );
        assert.strictEqual(result.output, "done");
        assert.deepStrictEqual(yield* calls, ["act number 7"]);
        const tool = requests[1]?.prompt.content.find((message) => message.role === "tool");
        assert.deepStrictEqual(JSON.parse(JSON.stringify(tool)).content[0].result, null);
        const assistant = JSON.stringify(
          requests[1]?.prompt.content.find((message) => message.role === "assistant"),
        );
        assert.include(assistant, '"count":"7"');
      }),
  );

  it.effect("[F-01] a declared failure in error mode is the run's own typed error", () =>
    Effect.gen(function* () {
      const { layer } = yield* makeHandlers;
      const exit = yield* AgentRuntime.run(agent, "go").pipe(
        Effect.provide([layer, ScriptedModel.layer([toolCalls([{ id: "c1", name: "fail" }])])]),
        Effect.exit,
      );
      assert.isTrue(Exit.isFailure(exit));
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined;
      assert.instanceOf(error, SearchUnavailable);
    }),
  );

  it.effect(
    "[F-06] invalid arguments of a return-mode tool go back to the model, which corrects them in the same run",
    () =>
      Effect.gen(function* () {
        const { layer, calls } = yield* makeHandlers;
        const seen = yield* Ref.make<ReadonlyArray<string>>([]);
        const events = yield* AgentRuntime.stream(agent, "go", {
          toolAuthorization: {
            authorize: ({ call }) =>
              Effect.as(
                Ref.update(seen, (all) => [...all, call.toolName]),
                { _tag: "allowed" as const },
              ),
          },
        }).pipe(
          Stream.runCollect,
          Effect.provide([
            layer,
            ScriptedModel.layer([
              toolCalls([
                { id: "bad", name: "search", params: { query: "" } },
                { id: "ok", name: "act", params: { count: "1" } },
              ]),
              toolCalls([{ id: "good", name: "search", params: { query: "x" } }]),
              text("done"),
            ]),
          ]),
        );
        assert.deepStrictEqual(yield* calls, ["act number 1", "search x"]);
        assert.deepStrictEqual(yield* Ref.get(seen), ["act", "search"]);
        const started = events.flatMap((event) =>
          event._tag === "ToolCallStarted" ? [event.callId] : [],
        );
        assert.deepStrictEqual(started as ReadonlyArray<string>, ["ok", "good"]);
        const failed = events.filter((event) => event._tag === "ToolCallFailed");
        assert.strictEqual(failed.length, 1);
        assert.strictEqual(failed[0]?.failureHandling, "returned-to-model");
        assert.strictEqual(events.at(-1)?._tag, "RunCompleted");
      }),
  );

  it.effect("[B-02][F-07] an unknown tool in last place starts nothing of its batch", () =>
    Effect.gen(function* () {
      const { layer, calls } = yield* makeHandlers;
      const exit = yield* AgentRuntime.run(agent, "go").pipe(
        Effect.provide([
          layer,
          ScriptedModel.layer([
            toolCalls([
              { id: "a", name: "act", params: { count: "1" } },
              { id: "b", name: "nope", params: {} },
            ]),
          ]),
        ]),
        Effect.exit,
      );
      assert.isTrue(Exit.isFailure(exit));
      assert.deepStrictEqual(yield* calls, []);
    }),
  );

  it.effect(
    "[Z-04] a denied call in last place starts nothing of its batch and is a typed denial",
    () =>
      Effect.gen(function* () {
        const { layer, calls } = yield* makeHandlers;
        const exit = yield* AgentRuntime.run(agent, "go").pipe(
          Effect.provide([
            layer,
            Layer.succeed(RunToolAuthorization, {
              authorize: ({ call }) =>
                Effect.succeed(
                  call.toolName === "search"
                    ? { _tag: "denied", reason: "no search" }
                    : { _tag: "allowed" },
                ),
            }),
            ScriptedModel.layer([
              toolCalls([
                { id: "a", name: "act", params: { count: "1" } },
                { id: "b", name: "search", params: { query: "x" } },
              ]),
            ]),
          ]),
          Effect.exit,
        );
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined;
        assert.strictEqual((error as { _tag?: string })._tag, "AgentToolAuthorizationDenied");
        assert.deepStrictEqual(yield* calls, []);
      }),
  );
});
