import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { ApprovalPolicy } from "#lib/approval/ApprovalPolicy.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import {
  attempt,
  decide,
  decider,
  kindOf,
  makeStore,
  openRequests,
  recordsOf,
  type Store,
} from "#tests/engine/durable-harness.ts";
import { agent, makeClerk, call } from "#tests/engine/clerk-tools.ts";

describe("rules that decide (A-13)", () => {
  it.effect("[A-13] a rule's decision is in one append with its request and names the rule", () =>
    Effect.gen(function* () {
      const clerk = makeClerk();
      const store = makeStore();
      const end = yield* attempt(store, agent, () => clerk.layer).pipe(
        Effect.provideService(ApprovalPolicy, {
          decide: ({ callId }) =>
            Effect.succeed(
              callId === "a"
                ? { _tag: "approve", rule: "small-amounts" }
                : { _tag: "deny", rule: "no-closing", reason: "never" },
            ),
        }),
        Effect.provide(
          ScriptedModel.layer([
            toolCalls([call("a", "refund"), call("b", "refund", 900)]),
            text("ok"),
          ]),
        ),
      );
      assert.strictEqual(end._tag, "settled");
      assert.deepStrictEqual(clerk.log, ["refund 500"]);
      const append = store.appends.find((records) =>
        records.some((record) => record._tag === "ApprovalRequested"),
      );
      assert.deepStrictEqual(
        append?.map((record) => record._tag),
        [
          "TurnRecorded",
          "ApprovalRequested",
          "ApprovalRequested",
          "ApprovalDecided",
          "ApprovalDecided",
        ],
      );
      assert.deepStrictEqual(
        kindOf(store, "ApprovalDecided").map(({ actor, decision }) => [
          actor.kind,
          actor.name,
          decision,
        ]),
        [
          ["policy", "small-amounts", "approved"],
          ["policy", "no-closing", "denied"],
        ],
      );
    }),
  );

  it.effect("[A-13] rules that break leave the request to a person", () =>
    Effect.gen(function* () {
      const clerk = makeClerk();
      const store = makeStore();
      const end = yield* attempt(store, agent, () => clerk.layer).pipe(
        Effect.provideService(ApprovalPolicy, {
          decide: () => Effect.die(new Error("rules down")),
        }),
        Effect.provide(ScriptedModel.layer([toolCalls([call("a", "refund")])])),
      );
      assert.deepStrictEqual(end, { _tag: "suspended", waitingFor: "approval" });
      assert.deepStrictEqual(clerk.log, []);
    }),
  );
});

describe("approval that outlives the process (A-08)", () => {
  const answerAll = (store: Store, decision: "approved" | "denied" | "expired") =>
    store.undelivered.push(
      ...openRequests(store).map((request) => decide(request, decision, "no, sorry")),
    );

  it.effect(
    "[A-08][scenario 10][R03] requested, let go, approved elsewhere: the same batch runs once, the model is not asked in between",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* Effect.gen(function* () {
          assert.deepStrictEqual(yield* attempt(store, agent, () => clerk.layer), {
            _tag: "suspended",
            waitingFor: "approval",
          });
          assert.deepStrictEqual(clerk.log, []);
          assert.strictEqual(recordsOf(store).at(-1)?._tag, "RunSuspended");
          assert.strictEqual(kindOf(store, "RunSettled").length, 0);
          answerAll(store, "approved");
          const end = yield* attempt(store, agent, () => clerk.layer);
          assert.strictEqual(end._tag, "settled");
          assert.deepStrictEqual(clerk.log, ["free 500", "refund 500"]);
          assert.strictEqual(
            (yield* Effect.flatMap(ScriptedModel, (model) => model.requests)).length,
            2,
          );
          assert.deepInclude(
            { ...kindOf(store, "ApprovalDecided")[0] },
            { actor: decider, reason: "no, sorry" },
          );
        }).pipe(
          Effect.provide(
            ScriptedModel.layer([toolCalls([call("f", "free"), call("a", "refund")]), text("ok")]),
          ),
        );
      }),
  );

  it.effect(
    "[A-08] lost between the request and the suspension: the wait is restored, nobody is asked twice",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* Effect.gen(function* () {
          yield* attempt(store, agent, () => clerk.layer, { crash: { append: 3, landed: false } });
          assert.strictEqual(kindOf(store, "RunSuspended").length, 0);
          assert.deepStrictEqual(yield* attempt(store, agent, () => clerk.layer), {
            _tag: "suspended",
            waitingFor: "approval",
          });
          assert.strictEqual(kindOf(store, "ApprovalRequested").length, 1);
          assert.strictEqual(kindOf(store, "AttemptStarted")[1]?.decision, "restore-approval-wait");
          assert.strictEqual(
            (yield* Effect.flatMap(ScriptedModel, (model) => model.requests)).length,
            1,
          );
        }).pipe(Effect.provide(ScriptedModel.layer([toolCalls([call("a", "refund")])])));
      }),
  );

  it.effect(
    "[A-01] the rule is asked once; a restart with another rule changes nothing for a pending call",
    () =>
      Effect.gen(function* () {
        let asked = 0;
        const Once = Tool.make("once", {
          success: Schema.String,
          needsApproval: () => Effect.sync(() => (asked += 1) === 1),
        });
        const tools = Toolkit.make(Once);
        const once = Agent.make("once", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: tools,
        });
        const layer = tools.toLayer({ once: () => Effect.succeed("ran") });
        const store = makeStore();
        yield* Effect.gen(function* () {
          for (let restart = 0; restart < 3; restart++) {
            assert.deepStrictEqual(yield* attempt(store, once, () => layer), {
              _tag: "suspended",
              waitingFor: "approval",
            });
          }
          assert.strictEqual(asked, 1);
        }).pipe(Effect.provide(ScriptedModel.layer([toolCalls([{ id: "a", name: "once" }])])));
      }),
  );

  it.effect(
    "[R02] approved, then the next request fails: the result stays, and a new attempt neither asks nor runs again",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* Effect.gen(function* () {
          yield* attempt(store, agent, () => clerk.layer);
          answerAll(store, "approved");
          // Lost with the request for turn 2 under way: its response never lands.
          yield* attempt(store, agent, () => clerk.layer, { crash: { append: 4, landed: false } });
          assert.deepStrictEqual(clerk.log, ["refund 500"]);
          const end = yield* attempt(store, agent, () => clerk.layer);
          assert.strictEqual(end._tag, "settled");
          assert.deepStrictEqual(clerk.log, ["refund 500"]);
          assert.strictEqual(kindOf(store, "ApprovalRequested").length, 1);
        }).pipe(
          Effect.provide(
            ScriptedModel.layer([toolCalls([call("a", "refund")]), text("lost"), text("ok")]),
          ),
        );
      }),
  );

  it.effect(
    "[R08] three gated calls of one tool, approved as 3, 1, 2: three requests, each with its own answer",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* Effect.gen(function* () {
          yield* attempt(store, agent, () => clerk.layer);
          const all = openRequests(store);
          assert.strictEqual(new Set(all.map(({ requestId }) => requestId)).size, 3);
          for (const index of [2, 0, 1]) {
            assert.deepStrictEqual(clerk.log, []);
            const request = all[index];
            assert.isDefined(request);
            store.undelivered.push(
              decide(request, index === 0 ? "denied" : "approved", `answer ${index}`),
            );
            yield* attempt(store, agent, () => clerk.layer);
          }
          assert.deepStrictEqual(clerk.log, ["refund 202", "refund 203"]);
          assert.strictEqual(
            (yield* Effect.flatMap(ScriptedModel, (model) => model.requests)).length,
            2,
          );
        }).pipe(
          Effect.provide(
            ScriptedModel.layer([
              toolCalls([
                call("a", "refund", 201),
                call("b", "refund", 202),
                call("c", "refund", 203),
              ]),
              text("ok"),
            ]),
          ),
        );
      }),
  );

  for (const decision of ["denied", "expired"] as const) {
    it.effect(
      `[scenario 11][A-06][A-07][R10][R18] a terminal tool ${decision}: a failed settlement and nothing of the batch runs, without a policy in the process too`,
      () =>
        Effect.gen(function* () {
          const clerk = makeClerk();
          const store = makeStore();
          yield* Effect.gen(function* () {
            yield* attempt(store, agent, () => clerk.layer);
            answerAll(store, decision);
            const end = yield* attempt(store, agent, () => clerk.layer);
            assert.deepInclude(end._tag === "settled" ? { ...end.settled } : {}, {
              outcome: "failed",
              finishReason: "approval-denied",
            });
            assert.strictEqual(
              end._tag === "settled" ? end.settled.failure?.errorTag : undefined,
              decision === "denied" ? "AgentToolApprovalDenied" : "AgentToolApprovalExpired",
            );
            assert.deepStrictEqual(clerk.log, []);
            assert.deepStrictEqual(kindOf(store, "ToolCallPrepared"), []);
          }).pipe(
            Effect.provide(
              ScriptedModel.layer([toolCalls([call("f", "free"), call("z", "close")])]),
            ),
          );
        }),
    );
  }

  it.effect(
    "[A-14][scenario 15][R15] the policy revoked while people decided: the resume denies and nothing runs",
    () =>
      Effect.gen(function* () {
        const clerk = makeClerk();
        const store = makeStore();
        yield* Effect.gen(function* () {
          yield* attempt(store, agent, () => clerk.layer, {
            context: { authorization: { authorize: () => Effect.succeed({ _tag: "allowed" }) } },
          });
          answerAll(store, "approved");
          const end = yield* attempt(store, agent, () => clerk.layer, {
            context: {
              authorization: {
                authorize: () => Effect.succeed({ _tag: "denied", reason: "revoked" }),
              },
            },
          });
          assert.strictEqual(
            end._tag === "settled" ? end.settled.finishReason : end._tag,
            "denied",
          );
          assert.deepStrictEqual(clerk.log, []);
        }).pipe(Effect.provide(ScriptedModel.layer([toolCalls([call("a", "refund")])])));
      }),
  );
});
