import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { TestClock } from "effect/testing";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import {
  abort,
  attempt,
  decide,
  kindOf,
  makeStore,
  openRequests,
  openUnknowns,
  type Process,
  resolve,
} from "#tests/engine/durable-harness.ts";
import { resultsIn, watch } from "#tests/engine/run-agent.ts";
import {
  options,
  Look,
  Put,
  Ask,
  Break,
  call,
  makeKeeper,
  next,
  withModel,
  requests,
  outcomeOf,
  idsOf,
} from "#tests/engine/keeper-tools.ts";

describe("effects in doubt (DU-01 to DU-06)", () => {
  it.effect(
    "[DU-01][DU-04][scenario 16] a process lost inside an uncertain handler: recorded before, in doubt after, never run again",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "lose" });
        assert.strictEqual((yield* next(store, keeper))._tag, "lost");
        const [prepared] = kindOf(store, "ToolCallPrepared");
        assert.isDefined(prepared);
        const promised: Record<string, unknown> = { ...prepared };
        assert.deepInclude(promised, {
          callId: "a",
          toolName: "send",
          executionClass: "uncertain",
          attempt: 1,
        });
        for (let restart = 0; restart < 3; restart++) {
          assert.deepStrictEqual(yield* next(store, keeper), {
            _tag: "suspended",
            waitingFor: "unknown",
          });
        }
        assert.deepStrictEqual(keeper.log, ["a"]);
        assert.deepStrictEqual(kindOf(store, "ToolCallSettled"), []);
        assert.strictEqual(kindOf(store, "ToolCallUnknown").length, 1);
        assert.strictEqual((yield* requests).length, 1);
      }).pipe(withModel(toolCalls([call("a", "send")]))),
  );

  it.effect(
    "[DU-02] ten calls with concurrency 2: at most 2 in doubt, the other 8 run by themselves once those are resolved",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ c0: "wait", c1: "lose" });
        yield* next(store, keeper);
        yield* next(store, keeper);
        assert.deepStrictEqual(idsOf(openUnknowns(store)), ["c0", "c1"]);
        store.undelivered.push(
          ...openUnknowns(store).map((unknown) =>
            resolve(unknown, "completed-with-result", "seen"),
          ),
        );
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
        assert.deepStrictEqual(keeper.log.slice(2).sort(), [
          "c2",
          "c3",
          "c4",
          "c5",
          "c6",
          "c7",
          "c8",
          "c9",
        ]);
      }).pipe(
        withModel(
          toolCalls(Array.from({ length: 10 }, (_, index) => call(`c${index}`, "send"))),
          text("ok"),
        ),
      ),
  );

  it.effect(
    "[DU-03][scenario 18] six calls: 2 finished, 2 running, 2 queued: reused, in doubt, run; the model reads all six in order",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ c2: "wait", c3: "lose" });
        assert.strictEqual((yield* next(store, keeper))._tag, "lost");
        assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallSettled")), ["c0", "c1"]);
        assert.deepStrictEqual(yield* next(store, keeper), {
          _tag: "suspended",
          waitingFor: "unknown",
        });
        assert.deepStrictEqual(keeper.log, ["c0", "c1", "c2", "c3"]);
        store.undelivered.push(
          ...openUnknowns(store).map((unknown) =>
            resolve(unknown, "completed-with-result", "seen"),
          ),
        );
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
        assert.deepStrictEqual(keeper.log, ["c0", "c1", "c2", "c3", "c4", "c5"]);
        assert.deepStrictEqual(
          resultsIn((yield* requests)[1]).map(([id, result]) => [id, result]),
          [
            ["c0", "did c0"],
            ["c1", "did c1"],
            ["c2", "seen"],
            ["c3", "seen"],
            ["c4", "did c4"],
            ["c5", "did c5"],
          ],
        );
      }).pipe(
        withModel(
          toolCalls(Array.from({ length: 6 }, (_, index) => call(`c${index}`, "send"))),
          text("ok"),
        ),
      ),
  );

  it.effect("[DU-05] a readonly call leaves no preparation and runs again freely", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.deepStrictEqual(keeper.log, ["a", "a"]);
      assert.deepStrictEqual(kindOf(store, "ToolCallPrepared"), []);
    }).pipe(withModel(toolCalls([call("a", "look")]), text("ok"))),
  );

  it.effect(
    "[DU-05] an idempotent call is prepared and runs again with the same key; another call has another key",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ b: "lose" });
        yield* next(store, keeper, { concurrency: 1 });
        assert.strictEqual(outcomeOf(yield* next(store, keeper, { concurrency: 1 })), "completed");
        assert.deepStrictEqual(keeper.log, ["a", "b", "b"]);
        assert.strictEqual(keeper.keys[1], keeper.keys[2]);
        assert.notStrictEqual(keeper.keys[0], keeper.keys[1]);
        assert.strictEqual(kindOf(store, "AttemptStarted")[1]?.decision, "rerun-idempotent");
      }).pipe(withModel(toolCalls([call("a", "put"), call("b", "put")]), text("ok"))),
  );

  it.effect(
    "[T-11] display hints change nothing: a tool annotated Readonly and Idempotent without a class is prepared and not run again",
    () =>
      Effect.gen(function* () {
        const Hinted = Tool.make("hinted", options)
          .annotate(Tool.Readonly, true)
          .annotate(Tool.Idempotent, true)
          .annotate(Tool.Destructive, false);
        const hinted = Toolkit.make(Hinted);
        const agent = Agent.make("hinted", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: hinted,
        });
        const store = makeStore();
        let starts = 0;
        const layer = (process: Process) =>
          hinted.toLayer({ hinted: () => Effect.suspend(() => ((starts += 1), process.lose)) });
        yield* attempt(store, agent, layer);
        assert.strictEqual(kindOf(store, "ToolCallPrepared").length, 1);
        assert.deepStrictEqual(yield* attempt(store, agent, layer), {
          _tag: "suspended",
          waitingFor: "unknown",
        });
        assert.strictEqual(starts, 1);
      }).pipe(withModel(toolCalls([call("a", "hinted")]))),
  );

  it.effect("[DU-04] a handler that says it does not know is in doubt at once, not failed", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "unsure" });
      assert.deepStrictEqual(yield* next(store, keeper), {
        _tag: "suspended",
        waitingFor: "unknown",
      });
      assert.deepInclude(kindOf(store, "ToolCallUnknown")[0], {
        reason: "handler-unsure",
        afterSettlement: false,
      });
      assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallSettled")), ["b"]);
      assert.deepStrictEqual(keeper.log.toSorted(), ["a", "b"]);
    }).pipe(withModel(toolCalls([call("a", "send"), call("b", "send")]))),
  );

  const answers = [
    ["never-started", { _tag: "never-started" }, ["a", "a"], "did a"],
    ["safe-to-retry", { _tag: "safe-to-retry" }, ["a", "a"], "did a"],
    [
      "completed",
      { _tag: "completed", result: "from the provider", isFailure: false },
      ["a"],
      "from the provider",
    ],
  ] as const;
  for (const [name, answer, log, result] of answers) {
    it.effect(`[DU-06] a reconciler that answers ${name} settles the doubt without a person`, () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "lose" });
        yield* next(store, keeper);
        const end = yield* next(store, keeper, {
          context: { reconcile: () => Effect.succeed(answer) },
        });
        assert.strictEqual(outcomeOf(end), "completed");
        assert.deepStrictEqual(keeper.log, [...log]);
        assert.deepStrictEqual(resultsIn((yield* requests)[1]), [["a", result, false]]);
        // The doubt and who answered it stay on record.
        assert.strictEqual(kindOf(store, "ToolCallUnknown").length, 1);
        assert.strictEqual(kindOf(store, "UnknownResolved")[0]?.actor.kind, "policy");
        if (name === "completed")
          assert.strictEqual(kindOf(store, "ToolCallSettled")[0]?.source, "reconciler");
      }).pipe(withModel(toolCalls([call("a", "send")]), text("ok"))),
    );
  }

  it.effect("[DU-06] a reconciler that breaks leaves the call open and guesses nothing", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      const end = yield* next(store, keeper, {
        context: { reconcile: () => Effect.die(new Error("down")) },
      });
      assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "unknown" });
      assert.deepStrictEqual(keeper.log, ["a"]);
    }).pipe(withModel(toolCalls([call("a", "send")]))),
  );
});

describe("attached runs and hooks (SA-05, X-17, R71, DU-17)", () => {
  it.effect(
    "[SA-05] an abort joins attached runs before it settles; a completed run joins none",
    () =>
      Effect.gen(function* () {
        const joined: Array<number> = [];
        const store = makeStore();
        const context: Partial<RunContext> = {
          joinChildren: Effect.sync(() => void joined.push(kindOf(store, "RunSettled").length)),
        };
        yield* next(store, makeKeeper(), { context });
        store.undelivered.push(abort);
        assert.strictEqual(outcomeOf(yield* next(store, makeKeeper(), { context })), "aborted");
        assert.deepStrictEqual(joined, [0]);
        assert.strictEqual(
          outcomeOf(yield* next(makeStore(), makeKeeper(), { context })),
          "completed",
        );
        assert.deepStrictEqual(joined, [0]);
      }).pipe(withModel(toolCalls([call("a", "ask")]), text("ok"))),
  );

  it.effect(
    "[X-17][X-12] whatever keeps the records gets the exposure of each request with its response, in one append",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        yield* next(store, makeKeeper());
        const sent = (yield* requests).map(({ tools }) => tools.map(({ name }) => name));
        assert.deepStrictEqual(
          kindOf(store, "TurnRecorded").map(({ exposure }) => [...exposure.exposed]),
          sent,
        );
      }).pipe(withModel(toolCalls([call("a", "look")]), text("ok"))),
  );

  it.effect(
    "[R71][R73] a reasoning part is sent with its call when another process goes on, once",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper();
        yield* next(store, keeper, { crash: { append: 2, landed: true } });
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
        const prompt = JSON.stringify((yield* requests)[1]?.encodedPrompt);
        assert.strictEqual(prompt.split("thinking about it").length, 2);
        assert.isBelow(prompt.indexOf("thinking about it"), prompt.indexOf('"tool-call"'));
      }).pipe(
        withModel(
          {
            parts: [
              { _tag: "reasoning", text: "thinking about it" },
              ...toolCalls([call("a", "look")]).parts,
            ],
          },
          text("ok"),
        ),
      ),
  );

  it.effect(
    "[DU-17] a run in memory with an effect in doubt claims nothing: it ends suspended and says that only a durable host can wait",
    () =>
      Effect.gen(function* () {
        const Unsure = Tool.make("unsure", options);
        const unsure = Toolkit.make(Unsure);
        const agent = Agent.make("unsure", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: unsure,
        });
        const run = yield* watch(
          agent,
          unsure.toLayer({ unsure: () => unknownOutcome("sent, no answer") }),
          [toolCalls([call("a", "unsure")])],
        );
        assert.deepInclude(run.error, { _tag: "AgentRunSuspended", waitingFor: "unknown" });
        assert.strictEqual(run.requests.length, 1);
        assert.deepStrictEqual(run.events.at(-1), { _tag: "RunSuspended", waitingFor: "unknown" });
      }),
  );
});

describe("time and change (DU-16, DU-19)", () => {
  it.effect("[DU-16] an approval after two hours does not use up the five minutes of the run", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper();
      yield* next(store, keeper);
      yield* TestClock.adjust("2 hours");
      store.undelivered.push(...openRequests(store).map((request) => decide(request, "approved")));
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.deepStrictEqual(keeper.log, ["a"]);
    }).pipe(withModel(toolCalls([call("a", "ask")]), text("ok"))),
  );

  const Changed = Tool.make("send", { success: Schema.Struct({ id: Schema.String }) });
  const changedToolkit = Toolkit.make(Look, Put, Changed, Ask, Break);
  const changedAgent = Agent.make("keeper", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit: changedToolkit,
  });
  const changedHandlers = (log: Array<string>) => () =>
    changedToolkit.toLayer({
      look: () => Effect.sync(() => (log.push("look"), "")),
      put: () => Effect.sync(() => (log.push("put"), "")),
      send: () => Effect.sync(() => (log.push("send"), { id: "new" })),
      ask: () => Effect.sync(() => (log.push("ask"), "")),
      break: () => Effect.fail("broken"),
    });

  it.effect(
    "[DU-19] a call that never started is not run by a tool with another contract, and says so",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper();
        yield* next(store, keeper, { crash: { append: 2, landed: true } });
        const log: Array<string> = [];
        const end = yield* attempt(store, changedAgent, changedHandlers(log));
        assert.strictEqual(outcomeOf(end), "completed");
        assert.deepStrictEqual(log, []);
        assert.deepInclude(kindOf(store, "ToolCallSettled")[0], {
          kind: "not-executed",
          source: "drift",
          isFailure: true,
        });
        assert.include(JSON.stringify(resultsIn((yield* requests)[1])), "changed");
      }).pipe(withModel(toolCalls([call("a", "send")]), text("ok"))),
  );

  it.effect(
    "[DU-19] a call that had started stays in doubt, and an operator's retry ends as not executed, once",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "lose" });
        yield* next(store, keeper);
        const log: Array<string> = [];
        assert.deepStrictEqual(yield* attempt(store, changedAgent, changedHandlers(log)), {
          _tag: "suspended",
          waitingFor: "unknown",
        });
        store.undelivered.push(
          ...openUnknowns(store).map((unknown) => resolve(unknown, "safe-to-retry")),
        );
        assert.strictEqual(
          outcomeOf(yield* attempt(store, changedAgent, changedHandlers(log))),
          "completed",
        );
        assert.deepStrictEqual(log, []);
        assert.deepStrictEqual(
          kindOf(store, "ToolCallSettled").map(({ kind }) => kind),
          ["not-executed"],
        );
      }).pipe(withModel(toolCalls([call("a", "send")]), text("ok"))),
  );

  it.effect(
    "[DU-19] an idempotent call that had started is not repeated by a tool that is gone",
    () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "lose" });
        yield* next(store, keeper);
        const without = Toolkit.make(Look);
        const agent = Agent.make("keeper", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: without,
        });
        const end = yield* attempt(store, agent, () =>
          without.toLayer({ look: () => Effect.succeed("") }),
        );
        assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "unknown" });
      }).pipe(withModel(toolCalls([call("a", "put")]))),
  );
});
