import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { TestClock } from "effect/testing";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { ScriptedModel, text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { unknownOutcome } from "#lib/unknown-outcome.ts";
import {
  abort,
  attempt,
  type CrashPoint,
  decide,
  kindOf,
  makeStore,
  openRequests,
  openUnknowns,
  type Process,
  resolve,
  type Store,
} from "#tests/engine/durable-harness.ts";
import { resultsIn } from "#tests/engine/run-agent.ts";

const options = { success: Schema.String } as const;
const Look = Tool.make("look", options).annotate(ToolExecutionClass, "readonly");
const Put = Tool.make("put", options).annotate(ToolExecutionClass, "idempotent");
const Send = Tool.make("send", options);
const Ask = Tool.make("ask", { ...options, needsApproval: true });
const Break = Tool.make("break", { failure: Schema.String });
const toolkit = Toolkit.make(Look, Put, Send, Ask, Break);
const makeAgent = (toolConcurrency = 2, more: Toolkit.Toolkit<typeof toolkit.tools> = toolkit) =>
  Agent.make("keeper", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit: more,
    policy: { toolConcurrency, maxToolCalls: 100 },
  });

const call = (id: string, name: string) => ({ id, name });

/** Handlers that note their calls and end as the test says for each call id. */
const makeKeeper = (behaviour: Readonly<Record<string, "lose" | "unsure" | "wait">> = {}) => {
  const log: Array<string> = [];
  const keys: Array<string> = [];
  const layer = (process: Process) => {
    const handle = Effect.gen(function* () {
      const { callId, idempotencyKey } = (yield* CurrentToolCall) ?? { callId: "?", idempotencyKey: "?" };
      log.push(callId);
      keys.push(idempotencyKey);
      const isFirst = log.filter((entry) => entry === callId).length === 1;
      if (isFirst && behaviour[callId] === "lose") {
        // Its siblings get as far as they can first.
        for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow;
        return yield* process.lose;
      }
      if (isFirst && behaviour[callId] === "unsure") return yield* unknownOutcome("The request was sent; no answer came.");
      if (isFirst && behaviour[callId] === "wait") return yield* Effect.never;
      return `did ${callId}`;
    });
    return toolkit.toLayer({ look: () => handle, put: () => handle, send: () => handle, ask: () => handle, break: () => Effect.fail("broken") });
  };
  return { layer, log, keys };
};

type Keeper = ReturnType<typeof makeKeeper>;

const next = (store: Store, keeper: Keeper, more: { readonly crash?: CrashPoint; readonly context?: Partial<RunContext>; readonly concurrency?: number } = {}) =>
  attempt(store, makeAgent(more.concurrency), keeper.layer, more);

const withModel =
  (...script: ReadonlyArray<TurnScript>) =>
  <A, E>(effect: Effect.Effect<A, E, ScriptedModel | Effect.Services<ReturnType<typeof next>>>) =>
    Effect.provide(effect, ScriptedModel.layer(script));

const requests = Effect.flatMap(ScriptedModel, (model) => model.requests);
const outcomeOf = (end: Effect.Success<ReturnType<typeof next>>) => (end._tag === "settled" ? end.settled.outcome : end._tag);
const idsOf = (records: ReadonlyArray<{ readonly callId: string }>) => records.map(({ callId }) => callId);

describe("effects in doubt (DU-01 to DU-06)", () => {
  it.effect("[DU-01][DU-04][scenario 16] a process lost inside an uncertain handler: recorded before, in doubt after, never run again", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      assert.strictEqual((yield* next(store, keeper))._tag, "lost");
      const [prepared] = kindOf(store, "ToolCallPrepared");
      assert.isDefined(prepared);
      const promised: Record<string, unknown> = { ...prepared };
      assert.deepInclude(promised, { callId: "a", toolName: "send", executionClass: "uncertain", attempt: 1 });
      for (let restart = 0; restart < 3; restart++) {
        assert.deepStrictEqual(yield* next(store, keeper), { _tag: "suspended", waitingFor: "unknown" });
      }
      assert.deepStrictEqual(keeper.log, ["a"]);
      assert.deepStrictEqual(kindOf(store, "ToolCallSettled"), []);
      assert.strictEqual(kindOf(store, "ToolCallUnknown").length, 1);
      assert.strictEqual((yield* requests).length, 1);
    }).pipe(withModel(toolCalls([call("a", "send")]))),
  );

  it.effect("[DU-02] ten calls with concurrency 2: at most 2 in doubt, the other 8 run by themselves once those are resolved", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ c0: "wait", c1: "lose" });
      yield* next(store, keeper);
      yield* next(store, keeper);
      assert.deepStrictEqual(idsOf(openUnknowns(store)), ["c0", "c1"]);
      store.undelivered.push(...openUnknowns(store).map((unknown) => resolve(unknown, "completed-with-result", "seen")));
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.deepStrictEqual(keeper.log.slice(2).sort(), ["c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"]);
    }).pipe(withModel(toolCalls(Array.from({ length: 10 }, (_, index) => call(`c${index}`, "send"))), text("ok"))),
  );

  it.effect("[DU-03][scenario 18] six calls: 2 finished, 2 running, 2 queued: reused, in doubt, run; the model reads all six in order", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ c2: "wait", c3: "lose" });
      assert.strictEqual((yield* next(store, keeper))._tag, "lost");
      assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallSettled")), ["c0", "c1"]);
      assert.deepStrictEqual(yield* next(store, keeper), { _tag: "suspended", waitingFor: "unknown" });
      assert.deepStrictEqual(keeper.log, ["c0", "c1", "c2", "c3"]);
      store.undelivered.push(...openUnknowns(store).map((unknown) => resolve(unknown, "completed-with-result", "seen")));
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
    }).pipe(withModel(toolCalls(Array.from({ length: 6 }, (_, index) => call(`c${index}`, "send"))), text("ok"))),
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

  it.effect("[DU-05] an idempotent call is prepared and runs again with the same key; another call has another key", () =>
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

  it.effect("[T-11] display hints change nothing: a tool annotated Readonly and Idempotent without a class is prepared and not run again", () =>
    Effect.gen(function* () {
      const Hinted = Tool.make("hinted", options).annotate(Tool.Readonly, true).annotate(Tool.Idempotent, true).annotate(Tool.Destructive, false);
      const hinted = Toolkit.make(Hinted);
      const agent = Agent.make("hinted", { input: Schema.String, output: Schema.String, instructions: "Go.", toolkit: hinted });
      const store = makeStore();
      let starts = 0;
      const layer = (process: Process) => hinted.toLayer({ hinted: () => Effect.suspend(() => ((starts += 1), process.lose)) });
      yield* attempt(store, agent, layer);
      assert.strictEqual(kindOf(store, "ToolCallPrepared").length, 1);
      assert.deepStrictEqual(yield* attempt(store, agent, layer), { _tag: "suspended", waitingFor: "unknown" });
      assert.strictEqual(starts, 1);
    }).pipe(withModel(toolCalls([call("a", "hinted")]))),
  );

  it.effect("[DU-04] a handler that says it does not know is in doubt at once, not failed", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "unsure" });
      assert.deepStrictEqual(yield* next(store, keeper), { _tag: "suspended", waitingFor: "unknown" });
      assert.deepInclude(kindOf(store, "ToolCallUnknown")[0], { reason: "handler-unsure", afterSettlement: false });
      assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallSettled")), ["b"]);
      assert.deepStrictEqual(keeper.log.toSorted(), ["a", "b"]);
    }).pipe(withModel(toolCalls([call("a", "send"), call("b", "send")]))),
  );

  const answers = [
    ["never-started", { _tag: "never-started" }, ["a", "a"], "did a"],
    ["safe-to-retry", { _tag: "safe-to-retry" }, ["a", "a"], "did a"],
    ["completed", { _tag: "completed", result: "from the provider", isFailure: false }, ["a"], "from the provider"],
  ] as const;
  for (const [name, answer, log, result] of answers) {
    it.effect(`[DU-06] a reconciler that answers ${name} settles the doubt without a person`, () =>
      Effect.gen(function* () {
        const store = makeStore();
        const keeper = makeKeeper({ a: "lose" });
        yield* next(store, keeper);
        const end = yield* next(store, keeper, { context: { reconcile: () => Effect.succeed(answer) } });
        assert.strictEqual(outcomeOf(end), "completed");
        assert.deepStrictEqual(keeper.log, [...log]);
        assert.deepStrictEqual(resultsIn((yield* requests)[1]), [["a", result, false]]);
        // The doubt and who answered it stay on record.
        assert.strictEqual(kindOf(store, "ToolCallUnknown").length, 1);
        assert.strictEqual(kindOf(store, "UnknownResolved")[0]?.actor.kind, "policy");
        if (name === "completed") assert.strictEqual(kindOf(store, "ToolCallSettled")[0]?.source, "reconciler");
      }).pipe(withModel(toolCalls([call("a", "send")]), text("ok"))),
    );
  }

  it.effect("[DU-06] a reconciler that breaks leaves the call open and guesses nothing", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      const end = yield* next(store, keeper, { context: { reconcile: () => Effect.die(new Error("down")) } });
      assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "unknown" });
      assert.deepStrictEqual(keeper.log, ["a"]);
    }).pipe(withModel(toolCalls([call("a", "send")]))),
  );
});

describe("resolutions (DU-07, DU-08)", () => {
  const lost = Effect.gen(function* () {
    const store = makeStore();
    const keeper = makeKeeper({ a: "wait", b: "lose" });
    yield* next(store, keeper);
    yield* next(store, keeper);
    const [a, b] = openUnknowns(store);
    assert.isDefined(a);
    assert.isDefined(b);
    return { store, keeper, a, b };
  });
  const twoSends = toolCalls([call("a", "send"), call("b", "send")]);

  it.effect("[scenario 17][DU-08] completed-with-result becomes the result without running anything", () =>
    Effect.gen(function* () {
      const { a, b, keeper, store } = yield* lost;
      store.undelivered.push(resolve(a, "completed-with-result", { id: 1 }), resolve(b, "completed-with-result", { id: 2 }));
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.deepStrictEqual(resultsIn((yield* requests)[1]).map(([, result]) => result), [{ id: 1 }, { id: 2 }]);
    }).pipe(withModel(twoSends, text("ok"))),
  );

  for (const kind of ["never-happened", "safe-to-retry"] as const) {
    it.effect(`[scenario 17][DU-08] ${kind} runs that call once more and no other`, () =>
      Effect.gen(function* () {
        const { a, b, keeper, store } = yield* lost;
        store.undelivered.push(resolve(a, kind), resolve(b, "completed-with-result", "seen"));
        assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
        assert.deepStrictEqual(keeper.log, ["a", "b", "a"]);
      }).pipe(withModel(twoSends, text("ok"))),
    );
  }

  it.effect("[scenario 17][DU-08][DU-12] abort-submission settles aborted and the doubt stays on record", () =>
    Effect.gen(function* () {
      const { a, keeper, store } = yield* lost;
      store.undelivered.push(resolve(a, "abort-submission"));
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallUnknown")), ["a", "b"]);
    }).pipe(withModel(twoSends)),
  );

  it.effect("[DU-07] with one of two resolved nothing runs and the model is not asked", () =>
    Effect.gen(function* () {
      const { a, keeper, store } = yield* lost;
      store.undelivered.push(resolve(a, "safe-to-retry"));
      assert.deepStrictEqual(yield* next(store, keeper), { _tag: "suspended", waitingFor: "unknown" });
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.strictEqual((yield* requests).length, 1);
    }).pipe(withModel(twoSends)),
  );

  it.effect("[scenario 17][DU-07] a second, different resolution changes nothing", () =>
    Effect.gen(function* () {
      const { a, b, keeper, store } = yield* lost;
      store.undelivered.push(resolve(a, "completed-with-result", "first"), resolve(a, "safe-to-retry"), resolve(b, "completed-with-result", "seen"));
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.strictEqual(resultsIn((yield* requests)[1])[0]?.[1], "first");
    }).pipe(withModel(twoSends, text("ok"))),
  );

  it.effect("[DU-08][Z-07] a call that may run again is authorized by today's policy first", () =>
    Effect.gen(function* () {
      const { a, b, keeper, store } = yield* lost;
      store.undelivered.push(resolve(a, "safe-to-retry"), resolve(b, "completed-with-result", "seen"));
      const asked: Array<string> = [];
      const before = kindOf(store, "ToolCallPrepared").length;
      const end = yield* next(store, keeper, {
        context: {
          authorization: {
            authorize: ({ call: { toolCallId } }) => Effect.as(Effect.sync(() => asked.push(toolCallId)), { _tag: "denied", reason: "not today" } as const),
          },
        },
      });
      assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "denied");
      assert.deepStrictEqual(asked, ["a"]);
      assert.deepStrictEqual(keeper.log, ["a", "b"]);
      assert.strictEqual(kindOf(store, "ToolCallPrepared").length, before);
    }).pipe(withModel(twoSends)),
  );
});

describe("ends (DU-09, DU-10, DU-12, Z-05)", () => {
  it.effect("[DU-09] a denial of a resumed batch records the idempotent call that had started", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      const end = yield* next(store, keeper, {
        context: { authorization: { authorize: () => Effect.succeed({ _tag: "denied", reason: "revoked" }) } },
      });
      assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "denied");
      assert.deepStrictEqual(kindOf(store, "ToolCallUnknown").map(({ afterSettlement, callId }) => [callId as string, afterSettlement]), [["a", true]]);
    }).pipe(withModel(toolCalls([call("a", "put")]))),
  );

  it.effect("[scenario 25][DU-12] work aborted while it is queued settles aborted and never runs", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper();
      store.undelivered.push(abort);
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
      assert.deepStrictEqual(keeper.log, []);
      assert.strictEqual((yield* requests).length, 0);
    }).pipe(withModel()),
  );

  it.effect("[scenario 25][DU-12] an abort while an approval waits settles aborted; a later approval runs nothing", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper();
      yield* next(store, keeper);
      const [request] = openRequests(store);
      assert.isDefined(request);
      store.undelivered.push(abort);
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
      store.undelivered.push(decide(request, "approved"));
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
      assert.deepStrictEqual(keeper.log, []);
      assert.strictEqual(kindOf(store, "RunSettled").length, 1);
    }).pipe(withModel(toolCalls([call("a", "ask")]))),
  );

  it.effect("[scenario 25][Z-05][DU-12] an abort on record wins over a policy that would deny", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper();
      yield* next(store, keeper, { crash: { append: 2, landed: true } });
      store.undelivered.push(abort);
      const end = yield* next(store, keeper, {
        context: { authorization: { authorize: () => Effect.succeed({ _tag: "denied", reason: "no" }) } },
      });
      assert.strictEqual(outcomeOf(end), "aborted");
      assert.deepStrictEqual(kindOf(store, "AuthorizationDenied"), []);
    }).pipe(withModel(toolCalls([call("a", "send")]))),
  );

  it.effect("[DU-12][DU-09] an abort records what had started as in doubt and claims no rollback", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      store.undelivered.push(abort);
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "aborted");
      assert.deepStrictEqual(idsOf(kindOf(store, "ToolCallUnknown")), ["a"]);
      assert.deepStrictEqual(keeper.log, ["a"]);
    }).pipe(withModel(toolCalls([call("a", "send")]))),
  );

  it.effect("[scenario 25][DU-12] an abort after completion changes nothing", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper();
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      store.undelivered.push(abort);
      assert.strictEqual(outcomeOf(yield* next(store, keeper)), "completed");
      assert.strictEqual(kindOf(store, "RunSettled").length, 1);
    }).pipe(withModel(text("done"))),
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

  it.effect("[DU-19] a call that never started is not run by a tool with another contract, and says so", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper();
      yield* next(store, keeper, { crash: { append: 2, landed: true } });
      const log: Array<string> = [];
      const end = yield* attempt(store, changedAgent, changedHandlers(log));
      assert.strictEqual(outcomeOf(end), "completed");
      assert.deepStrictEqual(log, []);
      assert.deepInclude(kindOf(store, "ToolCallSettled")[0], { kind: "not-executed", source: "drift", isFailure: true });
      assert.include(JSON.stringify(resultsIn((yield* requests)[1])), "changed");
    }).pipe(withModel(toolCalls([call("a", "send")]), text("ok"))),
  );

  it.effect("[DU-19] a call that had started stays in doubt, and an operator's retry ends as not executed, once", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      const log: Array<string> = [];
      assert.deepStrictEqual(yield* attempt(store, changedAgent, changedHandlers(log)), { _tag: "suspended", waitingFor: "unknown" });
      store.undelivered.push(...openUnknowns(store).map((unknown) => resolve(unknown, "safe-to-retry")));
      assert.strictEqual(outcomeOf(yield* attempt(store, changedAgent, changedHandlers(log))), "completed");
      assert.deepStrictEqual(log, []);
      assert.deepStrictEqual(kindOf(store, "ToolCallSettled").map(({ kind }) => kind), ["not-executed"]);
    }).pipe(withModel(toolCalls([call("a", "send")]), text("ok"))),
  );

  it.effect("[DU-19] an idempotent call that had started is not repeated by a tool that is gone", () =>
    Effect.gen(function* () {
      const store = makeStore();
      const keeper = makeKeeper({ a: "lose" });
      yield* next(store, keeper);
      const without = Toolkit.make(Look);
      const agent = Agent.make("keeper", { input: Schema.String, output: Schema.String, instructions: "Go.", toolkit: without });
      const end = yield* attempt(store, agent, () => without.toLayer({ look: () => Effect.succeed("") }));
      assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "unknown" });
    }).pipe(withModel(toolCalls([call("a", "put")]))),
  );
});
