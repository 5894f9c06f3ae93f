import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Logger, Schema, Tracer } from "effect";
import { AiError, Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { attempt, makeStore } from "#tests/engine/durable-harness.ts";
import { makeExporter } from "#tests/engine/exporter.ts";
import { watch } from "#tests/engine/run-agent.ts";

const canary = "canary-7f3a-do-not-leak";
class Leaky extends Schema.TaggedError<Leaky>()("Leaky", {
  message: Schema.String,
  ssn: Schema.String,
}) {
  override readonly cause: unknown = new Error(`Authorization: Bearer ${canary}`);
}
const params = Schema.Struct({ note: Schema.String });
const Good = Tool.make("good", { parameters: params, success: Schema.String });
const Soft = Tool.make("soft", {
  parameters: params,
  failure: Schema.Struct({ code: Schema.Int }),
  failureMode: "return",
});
const Hard = Tool.make("hard", { parameters: params, failure: Leaky });
const Bug = Tool.make("bug", { parameters: params });
const Stop = Tool.make("stop", { parameters: params });
const toolkit = Toolkit.make(Good, Soft, Hard, Bug, Stop);
const agent = Agent.make("traced", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Go.",
  toolkit,
});
const failure = new Leaky({
  message: `Request failed: Authorization: Bearer ${canary}`,
  ssn: canary,
});
const layer = toolkit.toLayer({
  good: () => Effect.succeed(canary),
  soft: () => Effect.fail({ code: 7 }),
  hard: () => Effect.fail(failure),
  bug: () =>
    Effect.die(new Error(`password=${canary}`, { cause: new Error(`api_key: ${canary}`) })),
  stop: () => Effect.interrupt,
});
const call = (name: string) => toolCalls([{ id: "c1", name, params: { note: canary } }]);

const trace = (name: string) => {
  const exporter = makeExporter();
  return watch(agent, layer, [call(name), text(canary)]).pipe(
    Effect.withSpan("caller"),
    Effect.provideService(Tracer.Tracer, exporter.tracer),
    Effect.provide(exporter.layer),
    Effect.map((run) => ({ run, exporter })),
  );
};

describe("spans and logs of tool calls (TE-01 to TE-04)", () => {
  const rows = [
    ["good", "error", undefined],
    ["soft", "return", "returned-to-model"],
    ["hard", "error", "propagated"],
    ["bug", "error", "propagated"],
  ] as const;
  for (const [name, mode, handling] of rows) {
    it.effect(
      `[TE-01][TE-02] ${name}: mode ${mode}, handling ${handling ?? "absent"}, and nothing of arguments, results or errors`,
      () =>
        Effect.gen(function* () {
          const { exporter } = yield* trace(name);
          const [span] = exporter.toolSpans();
          assert.strictEqual(exporter.toolSpans().length, 1);
          assert.strictEqual(span?.attributes.get("effect_agent.tool.failure_mode"), mode);
          assert.strictEqual(span?.attributes.get("effect_agent.tool.failure_handling"), handling);
          assert.strictEqual(span?.attributes.get("gen_ai.tool.call.id"), "c1");
          assert.notInclude(exporter.exported(), canary);
          assert.strictEqual(
            exporter.logs.filter((line) => line.includes("effect_agent.tool.failure_handling"))
              .length,
            handling === undefined ? 0 : 1,
          );
        }),
    );
  }

  it.effect("[TE-03][F-03] interruption alone leaves no failure log and no classification", () =>
    Effect.gen(function* () {
      const { exporter } = yield* trace("stop");
      const [span] = exporter.toolSpans();
      assert.isFalse(span?.attributes.has("effect_agent.tool.failure_handling"));
      assert.isFalse(span?.attributes.has("effect_agent.tool.outcome"));
      assert.deepStrictEqual(
        exporter.logs.filter((line) => line.includes("Tool call failed")),
        [],
      );
    }),
  );

  it.effect("[TE-04] a tracer and a logger that break change no outcome", () =>
    Effect.gen(function* () {
      const broken = Tracer.make({
        span: () => {
          throw new Error("exporter down");
        },
      });
      const shouting = Logger.layer([
        Logger.make<unknown, void>(() => {
          throw new Error("logger down");
        }),
      ]);
      const run = yield* watch(agent, layer, [call("good"), call("soft"), text("ok")]).pipe(
        Effect.provideService(Tracer.Tracer, broken),
        Effect.provide(shouting),
      );
      assert.isTrue(Exit.isSuccess(run.exit));
    }),
  );
});

describe("what leaves a run when something fails (DX-06, DX-07, R89)", () => {
  for (const name of ["hard", "bug"] as const) {
    it.effect(
      `[DX-06][DX-07][R89] a secret in the error and causes of ${name} is in no request, event, record or diagnostic`,
      () =>
        Effect.gen(function* () {
          const store = makeStore();
          const script = [toolCalls([{ id: "c1", name, params: { note: "x" } }])];
          const requests = yield* Effect.gen(function* () {
            const end = yield* attempt(store, agent, () => layer);
            assert.strictEqual(end._tag, "settled");
            return yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
          }).pipe(Effect.provide(ScriptedModel.layer(script)));
          assert.notInclude(
            JSON.stringify([
              store.appends,
              store.events,
              requests.map(({ encodedPrompt }) => encodedPrompt),
            ]),
            canary,
          );
          assert.isAtLeast(store.diagnostics.length, 1);
          assert.notInclude(JSON.stringify(store.diagnostics), canary);
        }),
    );

    it.effect(`[DX-07] the evidence of ${name} names that tool, not the agent that called it`, () =>
      Effect.gen(function* () {
        const store = makeStore();
        yield* attempt(store, agent, () => layer).pipe(
          Effect.provide(
            ScriptedModel.layer([toolCalls([{ id: "c1", name, params: { note: "x" } }])]),
          ),
        );
        assert.deepStrictEqual(
          store.diagnostics.map(({ callId, toolName }) => ({ callId, toolName })),
          [{ callId: "c1", toolName: name }],
        );
      }),
    );
  }

  it.effect(
    "[scenario 24][DX-04] a bearer token, a cyclic cause and five megabytes of message: redacted, marked and bounded everywhere",
    () =>
      Effect.gen(function* () {
        const huge = new Error(`Authorization: Bearer ${canary} ${"x".repeat(5_000_000)}`);
        huge.cause = huge;
        const tools = Toolkit.make(Bug);
        const bursting = Agent.make("bursting", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: tools,
        });
        const store = makeStore();
        yield* attempt(store, bursting, () => tools.toLayer({ bug: () => Effect.die(huge) })).pipe(
          Effect.provide(
            ScriptedModel.layer([toolCalls([{ id: "c1", name: "bug", params: { note: "x" } }])]),
          ),
        );
        const diagnostic = JSON.stringify(store.diagnostics);
        assert.include(diagnostic, "[redacted]");
        assert.include(diagnostic, "[truncated]");
        assert.include(diagnostic, "cycle");
        assert.isBelow(diagnostic.length, 200_000);
        assert.notInclude(JSON.stringify(store), canary);
      }),
  );

  it.effect("[R89] a secret in a provider's error body is in no event and no settlement", () =>
    Effect.gen(function* () {
      const error = AiError.make({
        module: "test",
        method: "test",
        reason: new AiError.InvalidRequestError({
          description: `bad header: authorization: Bearer ${canary}`,
        }),
      });
      const store = makeStore();
      yield* attempt(store, agent, () => layer).pipe(
        Effect.provide(ScriptedModel.layer([{ parts: [], error, finishReason: "omitted" }])),
      );
      assert.notInclude(JSON.stringify([store.appends, store.events]), canary);
    }),
  );

  it.effect("[DX-08] a returned failure gives the model its declared fields and nothing else", () =>
    Effect.gen(function* () {
      const { run } = yield* trace("soft");
      const tool = run.requests[1]?.prompt.content.find((message) => message.role === "tool");
      assert.include(JSON.stringify(tool), '"code":7');
      assert.notInclude(JSON.stringify(tool), "stack");
    }),
  );
});
