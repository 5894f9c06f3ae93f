import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Layer, Schema, Stream } from "effect";
import { IdGenerator, Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { defaultRunPolicy } from "#lib/agent/policy.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { RunToolScheduling, toRunSchedulingHook } from "#lib/run-options.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { attempt, makeStore } from "#tests/engine/durable-harness.ts";
import {
  errorTagOf,
  eventsOfKind,
  inVirtualTime,
  terminalEvents,
  watch,
} from "#tests/engine/run-agent.ts";
import { makeWorker, workerAgent } from "#tests/engine/worker-tools.ts";

const call = (id: string, name: string, millis = 0) => ({ id, name, params: { millis } });
const echo = Agent.make("echo", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Echo.",
  toolkit: Toolkit.empty,
});

describe("runs (RT-01 to RT-04)", () => {
  it("[RT-01] an agent without a policy has every default, and bounds are named when they are broken", () => {
    assert.deepStrictEqual(echo.policy, defaultRunPolicy);
    assert.deepInclude(echo.policy, {
      maxTurns: 12,
      maxToolCalls: 24,
      maxDurationMillis: 300_000,
      toolConcurrency: 4,
      repeatedFailureLimit: 3,
      onExhaustion: "final-answer",
    });
    assert.deepStrictEqual(echo.policy.toolResultBounds, { maxBytes: 51_200 });
    for (const policy of [
      { maxTurns: 0 },
      { toolConcurrency: 257 },
      { maxToolCalls: 1.5 },
      { toolResultBounds: { maxBytes: 255 } },
    ]) {
      assert.throws(() => workerAgent(policy), /must be a whole number from/);
    }
  });

  it.effect("[RT-02] however a run ends it has exactly one terminal event, its last", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const runs = yield* Effect.all({
        RunCompleted: watch(workerAgent(), worker.layer, [text("ok")]),
        RunFailed: watch(workerAgent(), worker.layer, [toolCalls([call("a", "fail")])]),
        protocol: watch(workerAgent(), worker.layer, [text("cut", { finishReason: "length" })]),
        defect: watch(workerAgent(), worker.layer, [toolCalls([call("a", "die")])]),
        modelDefect: watch(workerAgent(), worker.layer, []),
        refused: watch(workerAgent(), worker.layer, [text("never")], {
          run: { scheduling: toRunSchedulingHook({ mode: "concurrent", max: 0 }) },
        }),
      });
      for (const [name, run] of Object.entries(runs)) {
        const expected = name === "RunCompleted" ? name : "RunFailed";
        assert.deepStrictEqual(
          terminalEvents(run.events).map((event) => event._tag),
          [expected],
          name,
        );
        assert.strictEqual(run.events.at(-1)?._tag, expected, name);
      }
      assert.strictEqual(errorTagOf(runs.refused), "SchedulingOverrideInvalid");
    }),
  );

  it.effect("[RT-02] a stream fails as the run does, after its terminal event", () =>
    Effect.gen(function* () {
      const worker = makeWorker();
      const seen: Array<string> = [];
      const exit = yield* AgentRuntime.stream(workerAgent(), "go").pipe(
        Stream.runForEach((event) => Effect.sync(() => seen.push(event._tag))),
        Effect.exit,
        Effect.provide([worker.layer, ScriptedModel.layer([toolCalls([call("a", "fail")])])]),
      );
      assert.strictEqual(seen.at(-1), "RunFailed");
      assert.strictEqual(
        Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined,
        worker.failure,
      );
    }),
  );

  it.effect(
    "[RT-03][RT-04] run, stream and start of the same script with fixed ids see the same, event by event",
    () =>
      Effect.gen(function* () {
        const script = [toolCalls([call("a", "work", 5), call("b", "read", 1)]), text("ok")];
        const handled = AgentRuntime.run(workerAgent(), "go");
        const provided = <A, E>(effect: Effect.Effect<A, E, Effect.Services<typeof handled>>) => {
          let next = 0;
          return effect.pipe(
            Effect.provide([makeWorker().layer, ScriptedModel.layer(script)]),
            Effect.provideService(IdGenerator.IdGenerator, {
              generateId: () => Effect.sync(() => `id${(next += 1)}`),
            }),
            inVirtualTime,
          );
        };
        const ran = yield* provided(handled);
        const streamed = yield* provided(
          Stream.runCollect(AgentRuntime.stream(workerAgent(), "go")),
        );
        const started = yield* provided(
          Effect.scoped(
            Effect.gen(function* () {
              const handle = yield* AgentRuntime.start(workerAgent(), "go");
              return [yield* Stream.runCollect(handle.events), yield* handle.await] as const;
            }),
          ),
        );
        assert.deepStrictEqual(started[1], ran);
        // The three runs follow each other on one virtual clock; nothing else may differ.
        const timeless = (events: unknown) =>
          JSON.stringify(events, (key, value: unknown) =>
            key === "startedAt" ? undefined : value,
          );
        assert.strictEqual(timeless(streamed), timeless(started[0]));
        assert.strictEqual(ran.runId as string, "run-id1");
      }),
  );

  it.effect("[B-10] an observer that never reads does not hold the run back", () =>
    Effect.gen(function* () {
      const result = yield* Effect.scoped(
        Effect.gen(function* () {
          const handle = yield* AgentRuntime.start(echo, "go");
          return yield* handle.await;
        }),
      ).pipe(Effect.provide(ScriptedModel.layer([text("done")])));
      assert.strictEqual(result.output, "done");
    }),
  );

  it.effect(
    "[scenario 25][DU-12] an observer that goes away in the middle aborts nothing: the run completes",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const result = yield* Effect.scoped(
          Effect.gen(function* () {
            const handle = yield* AgentRuntime.start(workerAgent(), "go");
            const seen = yield* Stream.runCollect(
              Stream.takeUntil(handle.events, ({ _tag }) => _tag === "ToolCallStarted"),
            );
            assert.strictEqual(seen.at(-1)?._tag, "ToolCallStarted");
            return yield* handle.await;
          }),
        ).pipe(
          Effect.provide([
            worker.layer,
            ScriptedModel.layer([
              toolCalls([{ id: "a", name: "work", params: { millis: 50 } }]),
              text("done"),
            ]),
          ]),
          inVirtualTime,
        );
        assert.strictEqual(result.output, "done");
        assert.deepStrictEqual(worker.log, ["start a", "end a", "over a"]);
      }),
  );

  const outputs = [
    [
      "a struct as JSON",
      Schema.Struct({ total: Schema.NumberFromString }),
      '{"total":"12"}',
      { total: 12 },
    ],
    ["text as it is", Schema.String, "Your order is on its way.", "Your order is on its way."],
    ["a JSON string", Schema.String, '"quoted"', "quoted"],
    ["a number written by itself", Schema.String, "42", "42"],
    ["a list", Schema.Array(Schema.Int), "\n [1]", [1]],
    ["a negative number", Schema.Number, "\uFEFF-1.5 ", -1.5],
    ["a digit", Schema.Number, "\t0", 0],
    ["true", Schema.Boolean, " true", true],
    ["false", Schema.Boolean, "false\n", false],
    ["null", Schema.Null, "null", null],
  ] as const;
  for (const [name, output, answer, expected] of outputs) {
    it.effect(`[scenario 2][RT-01] the answer is decoded through the output schema: ${name}`, () =>
      Effect.gen(function* () {
        const agent = Agent.make("answering", {
          input: Schema.String,
          output: output as Schema.Codec<unknown, unknown>,
          instructions: "Answer.",
          toolkit: Toolkit.empty,
        });
        const result = yield* AgentRuntime.run(agent, "go").pipe(
          Effect.provide(ScriptedModel.layer([text(answer)])),
        );
        assert.deepStrictEqual(result.output, expected);
        assert.strictEqual(result.finishReason, "answered");
      }),
    );
  }

  it.effect("[RT-02] an answer that is not the declared output is a typed failure", () =>
    Effect.gen(function* () {
      const agent = Agent.make("strict", {
        input: Schema.String,
        output: Schema.Struct({ n: Schema.Int }),
        instructions: "Answer.",
        toolkit: Toolkit.empty,
      });
      const run = yield* watch(agent, Layer.empty, [text("no idea")]);
      assert.strictEqual(errorTagOf(run), "AgentOutputInvalid");
    }),
  );
});

describe("scheduling (S-01 to S-05)", () => {
  const batch = [
    toolCalls([
      call("a", "read", 10),
      call("b", "read", 10),
      call("c", "read", 10),
      call("d", "read", 10),
    ]),
    text("ok"),
  ];
  const overrides = [
    ["sequential", { mode: "sequential" }, 1],
    ["2", { mode: "concurrent", max: 2 }, 2],
    ["16", { mode: "concurrent", max: 16 }, 3],
  ] as const;
  for (const [name, override, expected] of overrides) {
    it.effect(`[S-01][S-03] policy 3 with the override ${name} runs ${expected} at once`, () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        yield* watch(workerAgent({ toolConcurrency: 3 }), worker.layer, batch, {
          run: { scheduling: toRunSchedulingHook(override) },
        }).pipe(inVirtualTime);
        assert.strictEqual(worker.highest(), expected);
      }),
    );
  }

  for (const max of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it.effect(`[S-01] the override ${max} is a typed error and starts nothing`, () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, batch, {
          run: { scheduling: toRunSchedulingHook({ mode: "concurrent", max }) },
        });
        assert.strictEqual(errorTagOf(run), "SchedulingOverrideInvalid");
        assert.strictEqual(run.requests.length, 0);
      }),
    );
  }

  it.effect(
    "[S-04] an ephemeral run uses the provided scheduling unless it brings its own; a handler's own reference changes nothing",
    () =>
      Effect.gen(function* () {
        const alone = { toolRequiresSequential: (name: string) => name === "read" };
        const provided = makeWorker();
        yield* watch(workerAgent(), provided.layer, batch).pipe(
          Effect.provideService(RunToolScheduling, alone),
          inVirtualTime,
        );
        assert.strictEqual(provided.highest(), 1);
        const own = makeWorker();
        yield* watch(workerAgent(), own.layer, batch, {
          run: { scheduling: toRunSchedulingHook({ mode: "concurrent", max: 4 }) },
        }).pipe(Effect.provideService(RunToolScheduling, alone), inVirtualTime);
        assert.strictEqual(own.highest(), 4);
      }),
  );

  it.effect("[S-05] a half-finished batch keeps its barriers after a crash", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const worker = makeWorker();
      const context: Partial<RunContext> = {
        scheduling: { toolRequiresSequential: (name) => name === "mutate" },
      };
      const script = ScriptedModel.layer([
        toolCalls([
          call("r1", "read", 10),
          call("r2", "read", 10),
          call("M", "mutate", 10),
          call("r3", "read", 10),
          call("r4", "read", 10),
        ]),
        text("ok"),
      ]);
      yield* Effect.gen(function* () {
        // Appends: opening, turn, settled r1; lost with r2 still to come.
        yield* attempt(store, workerAgent(), () => worker.layer, {
          context,
          crash: { append: 3, landed: true },
        });
        worker.log.splice(0);
        yield* attempt(store, workerAgent(), () => worker.layer, { context });
      }).pipe(Effect.provide(script), inVirtualTime);
      const at = (entry: string) => worker.log.indexOf(entry);
      assert.strictEqual(at("start r1"), -1);
      assert.isAbove(at("start r2"), -1);
      assert.isBelow(at("over r2"), at("start M"));
      assert.isBelow(at("over M"), Math.min(at("start r3"), at("start r4")));
      assert.isBelow(at("start r4"), at("end r3"));
    }),
  );

  it.effect(
    "[B-02][T-17] a tool named like an object's own method is unknown unless it is registered",
    () =>
      Effect.gen(function* () {
        const worker = makeWorker();
        const run = yield* watch(workerAgent(), worker.layer, [
          toolCalls([{ id: "a", name: "toString" }]),
        ]);
        assert.strictEqual(errorTagOf(run), "AgentToolCallRejected");
        assert.deepStrictEqual(eventsOfKind(run.events, "ToolCallStarted"), []);
      }),
  );
});

describe("several runs of one definition", () => {
  it.effect("[RT-04] a definition holds no state: two runs at once do not see each other", () =>
    Effect.gen(function* () {
      const Tag = Tool.make("tag", {
        parameters: Schema.Struct({ name: Schema.String }),
        success: Schema.String,
      });
      const toolkit = Toolkit.make(Tag);
      const agent = Agent.make("tagging", {
        input: Schema.String,
        output: Schema.String,
        instructions: "Tag.",
        toolkit,
      });
      const layer = toolkit.toLayer({ tag: ({ name }) => Effect.as(Effect.yieldNow, name) });
      const runs = yield* Effect.forEach(
        ["x", "y"],
        (name) =>
          watch(agent, layer, [
            toolCalls([{ id: "c", name: "tag", params: { name } }]),
            text(name),
          ]),
        { concurrency: 2 },
      );
      assert.deepStrictEqual(
        runs.map((run) => (Exit.isSuccess(run.exit) ? run.exit.value.output : undefined)),
        ["x", "y"],
      );
      assert.notStrictEqual(
        ...(runs.map((run) => (Exit.isSuccess(run.exit) ? run.exit.value.runId : undefined)) as [
          unknown,
          unknown,
        ]),
      );
    }),
  );
});
