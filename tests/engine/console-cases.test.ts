/** Cases that users of other consoles met and the interpreter decides: nothing runs twice, nothing denied runs, nobody is asked again. */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ScriptedModel, text, toolCalls, type TurnScript } from "#lib/testing/ScriptedModel.ts";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import * as ToolExposure from "#lib/tool-exposure.ts";
import {
  attempt,
  decide,
  kindOf,
  makeStore,
  openRequests,
  type Store,
} from "#tests/engine/durable-harness.ts";
import { agent, call, makeClerk, toolkit as clerkToolkit } from "#tests/engine/clerk-tools.ts";

/** Answers everything that waits: calls whose id `denies` names are denied. */
const answer = (store: Store, denies: (callId: string) => boolean = () => false) => {
  for (const request of openRequests(store))
    store.undelivered.push(decide(request, denies(request.callId) ? "denied" : "approved"));
};

describe("a denied call", () => {
  it.effect(
    "[C027] never runs: not in this attempt, not in the next, not after a lost process",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* attempt(store, agent, () => clerk.layer);
        answer(store, () => true);
        for (const append of [1, 2, 3])
          yield* attempt(store, agent, () => clerk.layer, {
            crash: { append, landed: append % 2 === 0 },
          });
        yield* attempt(store, agent, () => clerk.layer);
        yield* attempt(store, agent, () => clerk.layer);
        assert.deepStrictEqual(clerk.log, []);
        assert.strictEqual(kindOf(store, "ToolCallPrepared").length, 0);
        assert.strictEqual(kindOf(store, "ToolCallSettled")[0]?.kind, "denied-by-person");
      }).pipe(Effect.provide(ScriptedModel.layer([toolCalls([call("a", "refund")]), text("ok")]))),
  );

  it.effect(
    "[C037] denying the only call, and one of two, lets the run go on with the denial's words",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* attempt(store, agent, () => clerk.layer);
        answer(store, () => true);
        yield* attempt(store, agent, () => clerk.layer);
        answer(store, (id) => id === "b");
        const end = yield* attempt(store, agent, () => clerk.layer);
        assert.strictEqual(end._tag === "settled" ? end.settled.outcome : end._tag, "completed");
        assert.deepStrictEqual(clerk.log, ["refund 500"]);
        const requests = yield* Effect.flatMap(ScriptedModel, (model) => model.requests);
        for (const request of requests.slice(1)) assert.include(JSON.stringify(request), "because");
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([call("a", "refund")]),
            toolCalls([call("b", "refund"), call("c", "refund")]),
            text("ok"),
          ]),
        ),
      ),
  );
});

describe("approved calls", () => {
  it.effect(
    "[C034][C036] five at once, approved 1, 3, 5 and denied 2, 4 in any order and apart: exactly 1, 3, 5 run once",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* attempt(store, agent, () => clerk.layer);
        for (const id of ["4", "1", "5", "2", "3"]) {
          assert.deepStrictEqual(clerk.log, []);
          const request = openRequests(store).find(({ callId }) => callId === id);
          assert.isDefined(request);
          store.undelivered.push(decide(request, Number(id) % 2 === 0 ? "denied" : "approved"));
          yield* attempt(store, agent, () => clerk.layer);
        }
        assert.deepStrictEqual(clerk.log.toSorted(), ["refund 201", "refund 203", "refund 205"]);
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([1, 2, 3, 4, 5].map((id) => call(String(id), "refund", 200 + id))),
            text("ok"),
          ]),
        ),
      ),
  );

  it.effect(
    "[C031] three gated steps in a row: each is started once, however often the run is taken up",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        for (let step = 0; step < 4; step += 1) {
          yield* attempt(store, agent, () => clerk.layer);
          answer(store);
        }
        assert.deepStrictEqual(clerk.log, ["refund 201", "refund 202", "refund 203"]);
        assert.strictEqual(kindOf(store, "ToolCallPrepared").length, 3);
        assert.strictEqual(kindOf(store, "ApprovalRequested").length, 3);
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([call("1", "refund", 201)]),
            toolCalls([call("2", "refund", 202)]),
            toolCalls([call("3", "refund", 203)]),
            text("ok"),
          ]),
        ),
      ),
  );

  it.effect(
    "[C032] approved, and the worker comes back with other instructions and limits: it runs once and nobody is asked twice",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* attempt(store, agent, () => clerk.layer);
        answer(store);
        const changed = Agent.make("clerk", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Serve better.",
          toolkit: clerkToolkit,
          policy: { repeatedFailureLimit: 0, maxTurns: 7 },
        });
        const end = yield* attempt(store, changed, () => clerk.layer);
        assert.strictEqual(end._tag, "settled");
        assert.deepStrictEqual(clerk.log, ["refund 500"]);
        assert.strictEqual(kindOf(store, "ApprovalRequested").length, 1);
      }).pipe(Effect.provide(ScriptedModel.layer([toolCalls([call("a", "refund")]), text("ok")]))),
  );
});

const Wire = Tool.make("wire", { success: Schema.String, needsApproval: true });
const Find = Tool.make("find", {
  success: Schema.Struct({ toolNames: Schema.Array(Schema.String) }),
})
  .annotate(ToolExposure.DiscoveryTool, true)
  .annotate(ToolExecutionClass, "readonly")
  .annotate(ToolExposure.PinnedTool, true);
const explorerTools = Toolkit.make(Wire, Find);

describe("a gated tool", () => {
  const ways: ReadonlyArray<
    readonly [
      string,
      { readonly initialToolNames: ReadonlyArray<"wire"> },
      ReadonlyArray<TurnScript>,
    ]
  > = [
    ["by its static list", { initialToolNames: ["wire"] }, []],
    [
      "by discovery",
      { initialToolNames: [] },
      [toolCalls([{ id: "f", name: "find", params: {} }])],
    ],
  ];
  for (const [way, toolExposure, before] of ways) {
    it.effect(`[C029] reached ${way} is gated: a person is asked and nothing has run`, () =>
      Effect.gen(function* () {
        const log: Array<string> = [];
        const layer = explorerTools.toLayer({
          wire: () => Effect.sync(() => (log.push("wire"), "sent")),
          find: () => Effect.succeed({ toolNames: ["wire"] }),
        });
        const explorer = Agent.make("explorer", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Explore.",
          toolkit: explorerTools,
          toolExposure,
        });
        const store = makeStore();
        const end = yield* attempt(store, explorer, () => layer);
        assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "approval" });
        assert.deepStrictEqual(log, []);
        const turn = kindOf(store, "TurnRecorded").at(-1);
        assert.include(turn?.exposure.exposed ?? [], "wire");
        assert.isTrue(turn?.calls[0]?.needsApproval);
      }).pipe(
        Effect.provide(
          ScriptedModel.layer([...before, toolCalls([{ id: "w", name: "wire", params: {} }])]),
        ),
      ),
    );
  }
});
