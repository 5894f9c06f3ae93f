import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { Agent, AgentRuntime } from "effect-agent";
import {
  RunToolAuthorization,
  type RunOptions,
  toRunSchedulingHook,
} from "effect-agent/run-options";
import { RunToolVisibility, Selection } from "effect-agent/tool-exposure";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { readResults } from "#tests/testing/run-desk.ts";

class SourceDown extends Schema.TaggedError<SourceDown>()("SourceDown", {
  message: Schema.String,
}) {}

const Search = Tool.make("search", {
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.Array(Schema.String),
  failure: SourceDown,
  failureMode: "return",
});
const ReadRecord = Tool.make("read_record", { success: Schema.String });
const DeleteRecord = Tool.make("delete_record", { success: Schema.String });
const toolkit = Toolkit.make(Search, ReadRecord, DeleteRecord);
const agent = Agent.make("clerk", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Use the tools.",
  toolkit,
});

const runWith = (turns: Parameters<typeof ScriptedModel.layer>[0], options: RunOptions = {}) =>
  Effect.gen(function* () {
    const handled: Array<string> = [];
    const handlers = toolkit.toLayer({
      search: ({ query }) =>
        Effect.suspend(() => {
          handled.push(`search ${query}`);
          return query === "first source"
            ? Effect.fail(new SourceDown({ message: "Try another source." }))
            : Effect.succeed(["found"]);
        }),
      read_record: () => Effect.sync(() => String(handled.push("read"))),
      delete_record: () => Effect.sync(() => String(handled.push("delete"))),
    });
    return yield* Effect.gen(function* () {
      const exit = yield* Effect.exit(AgentRuntime.run(agent, "go", options));
      return { exit, handled, requests: yield* (yield* ScriptedModel).requests };
    }).pipe(Effect.provide(Layer.merge(handlers, ScriptedModel.layer(turns))));
  });

describe("what the documentation shows", () => {
  it.effect(
    "[X-15][X-07] a run can choose its tools without a search, and a visibility policy hides one from every request",
    () =>
      Effect.gen(function* () {
        const options: RunOptions = {
          toolSelection: Selection.make({ toolNames: ["search", "delete_record"] }),
        };
        const chosen = yield* runWith([text("done")], options);
        assert.deepStrictEqual(chosen.requests[0]?.tools.map(({ name }) => name).toSorted(), [
          "delete_record",
          "search",
        ]);
        const visible = Layer.succeed(RunToolVisibility, {
          visible: ({ toolNames }) =>
            Effect.succeed(toolNames.filter((name) => name !== "delete_record")),
        });
        const hidden = yield* runWith(
          [toolCalls([{ id: "a", name: "delete_record" }])],
          options,
        ).pipe(Effect.provide(visible));
        assert.deepStrictEqual(
          hidden.requests[0]?.tools.map(({ name }) => name),
          ["search"],
        );
        assert.deepStrictEqual(hidden.handled, []);
        assert.isTrue(Exit.isFailure(hidden.exit));
      }),
  );

  it.effect(
    "[F-02][T-12] a failure that is returned lets the model try another source, and the configuration can be read without running",
    () =>
      Effect.gen(function* () {
        assert.deepInclude(Agent.inspectTools(agent), {
          name: "search",
          failureMode: "return",
          requiresHandler: true,
        });
        const run = yield* runWith([
          toolCalls([{ id: "a", name: "search", params: { query: "first source" } }]),
          toolCalls([{ id: "b", name: "search", params: { query: "second source" } }]),
          text("done"),
        ]);
        assert.isTrue(Exit.isSuccess(run.exit));
        assert.deepStrictEqual(run.handled, ["search first source", "search second source"]);
        const [failed] = readResults(run.requests[1]);
        assert.isTrue(failed?.isFailure);
        assert.deepInclude(failed?.result as object, {
          _tag: "SourceDown",
          message: "Try another source.",
        });
      }),
  );

  it.effect(
    "[Z-01] a policy that permits one tool lets that one run and refuses the others by name",
    () =>
      Effect.gen(function* () {
        const searchOnly = RunToolAuthorization.of({
          authorize: ({ call }) =>
            Effect.succeed(
              call.toolName === "search"
                ? { _tag: "allowed" }
                : { _tag: "denied", reason: "Only search is permitted." },
            ),
        });
        const SearchOnlyLive = Layer.succeed(RunToolAuthorization, searchOnly);
        const permitted = yield* runWith([
          toolCalls([{ id: "a", name: "search", params: { query: "x" } }]),
          text("done"),
        ]).pipe(Effect.provide(SearchOnlyLive));
        assert.isTrue(Exit.isSuccess(permitted.exit));
        const refused = yield* runWith([toolCalls([{ id: "a", name: "read_record" }])]).pipe(
          Effect.provide(SearchOnlyLive),
          Effect.map(({ exit }) => exit),
        );
        const failure = Exit.isFailure(refused)
          ? refused.cause.reasons.find((reason) => reason._tag === "Fail")
          : undefined;
        assert.deepInclude(failure?._tag === "Fail" ? (failure.error as object) : {}, {
          _tag: "AgentToolAuthorizationDenied",
          toolName: "read_record",
          message: "Only search is permitted.",
        });
      }),
  );

  it("[S-01][S-02] the scheduling option is built from a mode and the names that must run alone", () => {
    const options: RunOptions = {
      scheduling: toRunSchedulingHook(
        { mode: "sequential" },
        (toolName) => toolName === "mutate_account",
      ),
    };
    assert.isTrue(options.scheduling?.toolRequiresSequential("mutate_account"));
    assert.isFalse(options.scheduling?.toolRequiresSequential("search"));
  });
});
