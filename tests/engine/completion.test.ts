/** Agents that answer through a tool (X-06, X-16, R30). */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunPolicyOptions } from "#lib/agent/policy.ts";
import { RunId } from "#lib/contract/ids.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { PinnedTool, RunToolVisibility } from "#lib/tool-exposure.ts";
import { attempt, kindOf, makeStore, recordsOf } from "#tests/engine/durable-harness.ts";
import {
  errorTagOf,
  eventsOfKind,
  inVirtualTime,
  resultsIn,
  watch,
} from "#tests/engine/run-agent.ts";

const Report = Schema.Struct({ verdict: Schema.String });
const NotReady = Schema.TaggedStruct("NotReady", { why: Schema.String });
const Look = Tool.make("look", { success: Schema.String });
const Submit = Tool.make("submit_report", {
  parameters: Report,
  success: Report,
  failure: NotReady,
  failureMode: "return",
});
const toolkit = Toolkit.make(Look, Submit);

const makeAnalyst = (
  completion: { readonly toolName: "look" | "submit_report"; readonly required?: boolean } = {
    toolName: "submit_report",
  },
  policy: RunPolicyOptions = {},
) =>
  Agent.make("analyst", {
    input: Schema.String,
    output: Report,
    instructions: "Report.",
    toolkit,
    policy,
    completion,
  });

const makeHandlers = (lookMillis = 0) => {
  const log: Array<string> = [];
  const layer = toolkit.toLayer({
    look: () =>
      Effect.sleep(lookMillis).pipe(Effect.andThen(Effect.sync(() => (log.push("look"), "seen")))),
    submit_report: (report) =>
      Effect.suspend(() => {
        log.push(`submit ${report.verdict.slice(0, 10)}`);
        return report.verdict === "unsure"
          ? Effect.fail(NotReady.make({ why: "look first" }))
          : Effect.succeed(report);
      }),
  });
  return { layer, log };
};

const look = (id: string) => ({ id, name: "look" });
const submit = (id: string, verdict: string) => ({
  id,
  name: "submit_report",
  params: { verdict },
});
const hidden = Layer.succeed(RunToolVisibility, {
  visible: ({ toolNames }) => Effect.succeed(toolNames.filter((name) => name !== "submit_report")),
});

describe("a completion tool", () => {
  it.effect(
    "[X-16][R30] beside ordinary calls: the whole batch runs, the last declared completion is the answer, nobody is asked again",
    () =>
      Effect.gen(function* () {
        const handlers = makeHandlers(50);
        const run = yield* watch(makeAnalyst(), handlers.layer, [
          toolCalls([submit("a", "first"), look("b"), submit("c", "second")], {
            text: "Here is my report.",
          }),
        ]).pipe(inVirtualTime);
        assert.deepStrictEqual(
          Exit.isSuccess(run.exit) ? [run.exit.value.output, run.exit.value.finishReason] : [],
          [{ verdict: "second" }, "answered"],
        );
        assert.deepStrictEqual(handlers.log.toSorted(), ["look", "submit first", "submit second"]);
        assert.strictEqual(run.requests.length, 1);
        assert.strictEqual(eventsOfKind(run.events, "ToolCallSucceeded").length, 3);
      }),
  );

  it.effect("[X-16] that fails is no answer: the model reads why and goes on", () =>
    Effect.gen(function* () {
      const run = yield* watch(makeAnalyst(), makeHandlers().layer, [
        toolCalls([submit("a", "unsure")]),
        toolCalls([submit("b", "sure")]),
      ]);
      assert.deepStrictEqual(resultsIn(run.requests[1]), [
        ["a", { _tag: "NotReady", why: "look first" }, true],
      ]);
      assert.deepStrictEqual(Exit.isSuccess(run.exit) && run.exit.value.output, {
        verdict: "sure",
      });
    }),
  );

  it.effect("[X-16][T-18] an answer over the result bound is whole", () =>
    Effect.gen(function* () {
      const verdict = "long ".repeat(20_000);
      const run = yield* watch(
        makeAnalyst(undefined, { toolResultBounds: { maxBytes: 256 } }),
        makeHandlers().layer,
        [toolCalls([submit("a", verdict)])],
      );
      assert.deepStrictEqual(Exit.isSuccess(run.exit) && run.exit.value.output, { verdict });
    }),
  );

  it.effect("[X-16] an optional one leaves text as an answer", () =>
    Effect.gen(function* () {
      const run = yield* watch(makeAnalyst(), makeHandlers().layer, [text('{"verdict":"text"}')]);
      assert.deepStrictEqual(Exit.isSuccess(run.exit) && run.exit.value.output, {
        verdict: "text",
      });
      assert.strictEqual(run.requests[0]?.toolChoice, "auto");
    }),
  );

  const budgets = [
    ["turns", { maxTurns: 1 }, [look("a")]],
    ["toolCalls", { maxToolCalls: 1 }, [look("a"), look("b")]],
  ] as const;
  for (const [dimension, policy, calls] of budgets) {
    it.effect(
      `[X-16][F-14] with ${dimension} used up the last answer may call the completion tool and nothing else`,
      () =>
        Effect.gen(function* () {
          const handlers = makeHandlers();
          const run = yield* watch(makeAnalyst(undefined, policy), handlers.layer, [
            toolCalls([...calls]),
            toolCalls([submit("last", "done")]),
          ]);
          assert.deepStrictEqual(
            run.requests[1]?.tools.map(({ name }) => name),
            ["submit_report"],
          );
          assert.deepStrictEqual(
            Exit.isSuccess(run.exit) ? [run.exit.value.output, run.exit.value.finishReason] : [],
            [{ verdict: "done" }, "budget-exhausted"],
          );
        }),
    );
  }

  it.effect("[X-16][F-14] with the run's time used up its call still has time to run", () =>
    Effect.gen(function* () {
      const agent = makeAnalyst();
      const handlers = makeHandlers();
      const store = makeStore();
      // Appends: the start, the turn, the preparation, the result; then an attempt that used the five minutes up.
      yield* attempt(store, agent, () => handlers.layer, { crash: { append: 4, landed: true } });
      store.appends.push([
        {
          _tag: "RunSuspended",
          runId: RunId.make("run-1"),
          attempt: 1,
          waitingFor: "approval",
          activeMillis: 300_000,
        },
      ]);
      yield* attempt(store, agent, () => handlers.layer);
      assert.deepInclude(kindOf(store, "RunSettled")[0], {
        outcome: "completed",
        output: { verdict: "late" },
        exhausted: "duration",
      });
    }).pipe(
      Effect.provide(
        ScriptedModel.layer([toolCalls([look("a")]), toolCalls([submit("b", "late")])]),
      ),
    ),
  );

  it.effect("[X-16][X-12] hidden, an optional one leaves text for the last answer", () =>
    Effect.gen(function* () {
      const run = yield* watch(makeAnalyst(undefined, { maxTurns: 1 }), makeHandlers().layer, [
        toolCalls([look("a")]),
        text('{"verdict":"text"}'),
      ]).pipe(Effect.provide(hidden));
      assert.deepStrictEqual(run.requests[1]?.tools, []);
      assert.strictEqual(run.requests[1]?.toolChoice, "none");
      assert.isTrue(Exit.isSuccess(run.exit));
    }),
  );

  it.effect("[X-06] hidden, a required one refuses the run before any model call", () =>
    Effect.gen(function* () {
      const run = yield* watch(
        makeAnalyst({ toolName: "submit_report", required: true }),
        makeHandlers().layer,
        [text("never")],
      ).pipe(Effect.provide(hidden));
      assert.deepInclude(run.error, {
        _tag: "ModelProtocolError",
        reason: "mandatory-tool-hidden",
        toolName: "submit_report",
      });
      assert.strictEqual(run.requests.length, 0);
    }),
  );

  it.effect(
    "[X-06][T-16] a required one is in every request, which must call; text is no answer",
    () =>
      Effect.gen(function* () {
        const pinned = Toolkit.make(Look.annotate(PinnedTool, true), Submit);
        const agent = Agent.make("analyst", {
          input: Schema.String,
          output: Report,
          instructions: "Report.",
          toolkit: pinned,
          toolExposure: { initialToolNames: [] },
          policy: { maxTurns: 1 },
          completion: { toolName: "submit_report", required: true },
        });
        const run = yield* watch(agent, makeHandlers().layer, [
          toolCalls([look("a")]),
          text('{"verdict":"text"}'),
        ]);
        assert.deepStrictEqual(
          run.requests.map(({ toolChoice, tools }) => [toolChoice, tools.map(({ name }) => name)]),
          [
            ["required", ["look", "submit_report"]],
            [{ tool: "submit_report" }, ["submit_report"]],
          ],
        );
        assert.strictEqual(errorTagOf(run), "AgentBudgetExceeded");
        const refused = yield* watch(agent, makeHandlers().layer, [text('{"verdict":"text"}')]);
        assert.strictEqual(errorTagOf(refused), "AgentOutputInvalid");
        assert.include((refused.error as Error).message, "submit_report");
      }),
  );

  it.effect(
    "[X-16][DU-14] a process lost with the answer recorded settles it without asking again",
    () =>
      Effect.gen(function* () {
        const agent = makeAnalyst();
        const handlers = makeHandlers();
        const store = makeStore();
        // Appends: the start, the turn, the preparation, the result.
        const lost = yield* attempt(store, agent, () => handlers.layer, {
          crash: { append: 4, landed: true },
        });
        assert.strictEqual(lost._tag, "lost");
        assert.isTrue(kindOf(store, "ToolCallSettled")[0]?.completes);
        yield* attempt(store, agent, () => handlers.layer);
        assert.deepInclude(kindOf(store, "RunSettled")[0], {
          outcome: "completed",
          output: { verdict: "once" },
        });
        assert.deepStrictEqual(handlers.log, ["submit once"]);
        assert.strictEqual(
          recordsOf(store).filter(({ _tag }) => _tag === "TurnRecorded").length,
          1,
        );
      }).pipe(Effect.provide(ScriptedModel.layer([toolCalls([submit("a", "once")])]))),
  );

  it("[X-06] that is no tool a handler runs is a mistake of the definition", () => {
    for (const toolName of ["nothing", "toString"]) {
      assert.throws(() => makeAnalyst({ toolName } as never), `"${toolName}" is not`);
    }
  });
});
