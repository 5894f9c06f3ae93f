import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Schema, SchemaGetter } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { errorTagOf, eventsOfKind, resultsIn, watch } from "#tests/engine/run-agent.ts";
import { agentOf, callOnce } from "#tests/engine/one-call.ts";

describe("results (T-05, T-06, T-08, T-18)", () => {
  const results = [
    ["the default success", Tool.make("t"), Effect.void, null],
    ["Schema.Void", Tool.make("t", { success: Schema.Void }), Effect.void, null],
    [
      "a codec of its own",
      Tool.make("t", {
        success: Schema.Literal("ok").pipe(
          Schema.decodeTo(Schema.Undefined, {
            decode: SchemaGetter.transform((): undefined => undefined),
            encode: SchemaGetter.transform(() => "ok" as const),
          }),
        ),
      }),
      Effect.void,
      "ok",
    ],
  ] as const;
  for (const [name, tool, handle, expected] of results) {
    it.effect(
      `[scenario 9][T-05][R51] nothing returned through ${name} is ${JSON.stringify(expected)} for the model and in the event`,
      () =>
        Effect.gen(function* () {
          const run = yield* callOnce(tool, () => handle, "{}");
          assert.deepStrictEqual(resultsIn(run.requests[1]), [["c1", expected, false]]);
          assert.deepStrictEqual(
            eventsOfKind(run.events, "ToolCallSucceeded")[0]?.result,
            expected,
          );
        }),
    );
  }

  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const notJson = [
    ["a BigInt", { amount: 10n }],
    ["a cycle", cyclic],
    ["a function", { run: () => 1 }],
    ["NaN", Number.NaN],
    ["Infinity", [Number.POSITIVE_INFINITY]],
  ] as const;
  for (const [name, value] of notJson) {
    it.effect(`[T-06][F-05][R46] ${name} through Schema.Any fails the run and is no result`, () =>
      Effect.gen(function* () {
        const run = yield* callOnce(
          Tool.make("t", { success: Schema.Any }),
          () => Effect.succeed(value),
          "{}",
        );
        assert.strictEqual(errorTagOf(run), "AgentToolResultEncodingError");
        assert.strictEqual(run.requests.length, 1);
      }),
    );
  }

  const Progress = Tool.make("progress", {
    success: Schema.Union([Schema.String, Schema.Struct({ percent: Schema.Int })]),
  });
  const progressKit = Toolkit.make(Progress);

  it.effect(
    "[T-08][R55] preliminary values are progress, then exactly one end; history has the returned value only",
    () =>
      Effect.gen(function* () {
        const layer = progressKit.toLayer({
          progress: (_, context) =>
            Effect.gen(function* () {
              for (const percent of [10, 50, 90]) yield* context.preliminary({ percent });
              return "finished";
            }),
        });
        const run = yield* watch(agentOf(progressKit), layer, [
          toolCalls([{ id: "c1", name: "progress" }]),
          text("ok"),
        ]);
        const kinds = run.events.map((event) => event._tag).filter((tag) => tag.startsWith("Tool"));
        assert.deepStrictEqual(kinds, [
          "ToolCallDeclared",
          "ToolCallStarted",
          "ToolProgress",
          "ToolProgress",
          "ToolProgress",
          "ToolCallSucceeded",
        ]);
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolProgress").map(({ value }) => value),
          [{ percent: 10 }, { percent: 50 }, { percent: 90 }],
        );
        assert.notInclude(JSON.stringify(run.requests[1]?.encodedPrompt), "percent");
        assert.deepStrictEqual(resultsIn(run.requests[1]), [["c1", "finished", false]]);
      }),
  );

  it.effect(
    "[T-08][B-10] a thousand preliminary values become at most 256 events, and the last one says how many were left out",
    () =>
      Effect.gen(function* () {
        const layer = progressKit.toLayer({
          progress: (_, context) =>
            Effect.gen(function* () {
              for (let percent = 1; percent <= 1_000; percent++)
                yield* context.preliminary({ percent });
              return "finished";
            }),
        });
        const run = yield* watch(agentOf(progressKit), layer, [
          toolCalls([{ id: "c1", name: "progress" }]),
          text("ok"),
        ]);
        const progress = eventsOfKind(run.events, "ToolProgress");
        assert.strictEqual(progress.length, 256);
        assert.deepInclude(progress.at(-1), { value: { percent: 1_000 }, dropped: 744 });
      }),
  );

  it.effect(
    "[T-18][R52] a large result of multi-byte text is bounded once, the same for record and prompt, and tells its size",
    () =>
      Effect.gen(function* () {
        const Big = Tool.make("big", { success: Schema.String });
        const toolkit = Toolkit.make(Big);
        const value = "ß€👍".repeat(3_000);
        const layer = toolkit.toLayer({ big: () => Effect.succeed(value) });
        const run = yield* watch(
          agentOf(toolkit, { toolResultBounds: { maxBytes: 1_000 } }),
          layer,
          [toolCalls([{ id: "c1", name: "big" }]), text("ok")],
        );
        const [, result] = resultsIn(run.requests[1])[0] ?? [];
        assert.isAtMost(utf8ByteLength(JSON.stringify(result)), 1_000);
        const event = eventsOfKind(run.events, "ToolCallSucceeded")[0];
        assert.deepStrictEqual(event?.result, JSON.parse(JSON.stringify(result)));
        assert.strictEqual(event?.originalBytes, utf8ByteLength(JSON.stringify(value)));
        assert.deepInclude(result as object, {
          truncated: true,
          originalBytes: event?.originalBytes,
        });
        assert.notMatch(JSON.stringify(result), /\\ud[89a-f]/);
      }),
  );

  const nested = (depth: number): unknown =>
    Array.from({ length: depth }).reduce<unknown>((inside) => [inside], 1);
  const unstorable = [
    ["a result nested 5,000 deep", nested(5_000), 10_001],
    ["a list of 5,000 entries", Array.from({ length: 5_000 }, (_, index) => index % 10), 10_001],
  ] as const;
  for (const [name, value, bytes] of unstorable) {
    it.effect(
      `[R54][T-18][PG-06] ${name} is small and no value that may be stored: its text is, once, and the run goes on`,
      () =>
        Effect.gen(function* () {
          const run = yield* callOnce(
            Tool.make("t", { success: Schema.Any }),
            () => Effect.succeed(value),
            "{}",
          );
          assert.isTrue(Exit.isSuccess(run.exit));
          const [, result] = resultsIn(run.requests[1])[0] ?? [];
          assert.deepInclude(result as object, {
            truncated: true,
            format: "json",
            originalBytes: bytes,
          });
          assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallSucceeded")[0]?.result, result);
        }),
    );
  }
});
