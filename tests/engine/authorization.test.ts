import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { AgentToolAuthorizationCheckError } from "#lib/agent-error.ts";
import type { RunContext } from "#lib/engine/RunContext.ts";
import { RunToolAuthorization, type ToolAuthorizationRequest } from "#lib/run-options.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { attempt, decide, kindOf, makeStore, openRequests } from "#tests/engine/durable-harness.ts";
import { errorTagOf, eventsOfKind, terminalEvents, watch } from "#tests/engine/run-agent.ts";

const parameters = Schema.Struct({ amount: Schema.NumberFromString });
const Pay = Tool.make("pay", { parameters, success: Schema.String });
const Ship = Tool.make("ship", { parameters, success: Schema.String, needsApproval: true });
const toolkit = Toolkit.make(Pay, Ship);
const agent = Agent.make("shop", {
  input: Schema.String,
  output: Schema.String,
  instructions: "Sell.",
  toolkit,
});

const makeShop = () => {
  const log: Array<string> = [];
  const handle =
    (name: string) =>
    ({ amount }: typeof parameters.Type) =>
      Effect.sync(() => (log.push(`${name} ${amount}`), "done"));
  return { log, layer: toolkit.toLayer({ pay: handle("pay"), ship: handle("ship") }) };
};
const call = (id: string, name: string, amount = "5") => ({ id, name, params: { amount } });
const allowed = { _tag: "allowed" } as const;
const secret = "ledger row 31337 belongs to somebody else";

describe("the question (Z-02, Z-03)", () => {
  it.effect(
    "[Z-02] a policy sees identity, encoded input and encoded parameters of a copy: changing them changes nothing",
    () =>
      Effect.gen(function* () {
        const shop = makeShop();
        const seen: Array<ToolAuthorizationRequest> = [];
        yield* watch(agent, shop.layer, [toolCalls([call("a", "pay", "7")]), text("ok")], {
          run: {
            toolAuthorization: {
              authorize: (request) =>
                Effect.sync(() => {
                  seen.push(structuredClone(request));
                  (request.call.parameters as { amount: string }).amount = "999999";
                  return allowed;
                }),
            },
          },
        });
        assert.deepStrictEqual(shop.log, ["pay 7"]);
        const request: Record<string, unknown> = { ...seen[0] };
        assert.deepInclude(request, {
          turnId: "turn-1",
          turnNumber: 1,
          input: "go",
          call: {
            toolCallId: "a",
            toolName: "pay",
            parameters: { amount: "7" },
            executionClass: "uncertain",
          },
        });
        assert.isFalse("programmatic" in request);
      }),
  );

  it.effect(
    "[Z-03] every call is asked about in declaration order, after approvals and before the first handler",
    () =>
      Effect.gen(function* () {
        const shop = makeShop();
        const order: Array<string> = [];
        yield* watch(
          agent,
          shop.layer,
          [toolCalls([call("a", "ship"), call("b", "pay"), call("c", "pay")]), text("ok")],
          {
            run: {
              approval: {
                resolve: (requests) =>
                  Effect.sync(() => {
                    order.push("approval");
                    return requests.map(() => ({
                      _tag: "approved",
                      approvers: [{ kind: "operator", id: "o", name: "O" }],
                    }));
                  }),
              },
              toolAuthorization: {
                authorize: (request) =>
                  Effect.sync(
                    () => (
                      order.push(`${request.call.toolCallId} after ${shop.log.length} handlers`),
                      allowed
                    ),
                  ),
              },
            },
          },
        );
        assert.deepStrictEqual(order, [
          "approval",
          "a after 0 handlers",
          "b after 0 handlers",
          "c after 0 handlers",
        ]);
      }),
  );
});

describe("the answers (Z-04, Z-06)", () => {
  const policies = {
    denied: () =>
      Effect.succeed({
        _tag: "denied",
        reason: "no payments today",
        cause: new Error(secret),
      } as const),
    failed: (request: ToolAuthorizationRequest) =>
      Effect.fail(
        new AgentToolAuthorizationCheckError({
          ...request.call,
          message: "The policy store did not answer.",
          cause: new Error(secret),
        }),
      ),
    died: () => Effect.die(new RangeError("policy bug")),
    interrupted: () => Effect.interrupt,
  };
  const play = (name: keyof typeof policies) => {
    const shop = makeShop();
    const store = makeStore();
    const authorization: RunContext["authorization"] = {
      authorize: (request) =>
        request.call.toolCallId === "b" ? policies[name](request) : Effect.succeed(allowed),
    };
    return attempt(store, agent, () => shop.layer, { context: { authorization } }).pipe(
      Effect.provide(ScriptedModel.layer([toolCalls([call("a", "pay"), call("b", "pay")])])),
      Effect.map((end) => ({ end, store, log: shop.log })),
    );
  };

  it.effect(
    "[scenario 13][Z-04] a denial of the last call: no handler, no preparation, a failed settlement, its cause for operators only",
    () =>
      Effect.gen(function* () {
        const { end, log, store } = yield* play("denied");
        assert.deepStrictEqual(log, []);
        assert.deepStrictEqual(kindOf(store, "ToolCallPrepared"), []);
        assert.deepInclude(end._tag === "settled" ? { ...end.settled } : {}, {
          outcome: "failed",
          finishReason: "denied",
        });
        assert.deepInclude(end._tag === "settled" ? { ...end.settled.failure } : {}, {
          errorTag: "AgentToolAuthorizationDenied",
          message: "no payments today",
        });
        assert.notInclude(JSON.stringify([store.events, store.appends]), "31337");
        assert.include(JSON.stringify(store.diagnostics), "31337");
        assert.strictEqual(
          kindOf(store, "AuthorizationDenied")[0]?.diagnosticId,
          store.diagnostics[0]?.diagnosticId,
        );
        assert.notStrictEqual(store.diagnostics[0]?.title, "Failure", "its title says what failed");
      }),
  );

  it.effect("[scenario 14][Z-06] a check that failed is its own outcome, never a denial", () =>
    Effect.gen(function* () {
      const { end, log, store } = yield* play("failed");
      assert.deepStrictEqual(log, []);
      assert.deepStrictEqual(kindOf(store, "AuthorizationDenied"), []);
      assert.strictEqual(kindOf(store, "AuthorizationCheckFailed").length, 1);
      assert.strictEqual(
        end._tag === "settled" ? end.settled.finishReason : end._tag,
        "check-failed",
      );
      assert.notInclude(JSON.stringify([store.events, store.appends]), "31337");
      assert.include(JSON.stringify(store.diagnostics), "31337");
    }),
  );

  it.effect(
    "[scenario 14][Z-06] a policy that breaks is a defect of the run, in neither list",
    () =>
      Effect.gen(function* () {
        const { end, log, store } = yield* play("died");
        assert.deepStrictEqual(log, []);
        assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "defect");
        assert.deepStrictEqual(
          [kindOf(store, "AuthorizationDenied"), kindOf(store, "AuthorizationCheckFailed")],
          [[], []],
        );
      }),
  );

  it.effect("[Z-06] a policy that is interrupted interrupts; nothing is settled or denied", () =>
    Effect.gen(function* () {
      const { end, log, store } = yield* play("interrupted");
      assert.deepStrictEqual(log, []);
      assert.isTrue(end._tag === "died" && Cause.hasInterruptsOnly(end.cause));
      assert.deepStrictEqual(kindOf(store, "RunSettled"), []);
    }),
  );

  it.effect(
    "[Z-06] in memory the three are a typed error, a defect and an interruption, each with one terminal event",
    () =>
      Effect.gen(function* () {
        const runs = yield* Effect.forEach(["failed", "died", "interrupted"] as const, (name) =>
          watch(agent, makeShop().layer, [toolCalls([call("b", "pay")])], {
            run: { toolAuthorization: { authorize: policies[name] } },
          }),
        );
        const [failed, died, interrupted] = runs;
        assert.isDefined(failed);
        assert.isDefined(died);
        assert.isDefined(interrupted);
        assert.strictEqual(errorTagOf(failed), "AgentToolAuthorizationCheckError");
        assert.isTrue(Exit.isFailure(died.exit) && Cause.hasDies(died.exit.cause));
        assert.isTrue(
          Exit.isFailure(interrupted.exit) && Cause.hasInterruptsOnly(interrupted.exit.cause),
        );
        for (const run of runs) assert.strictEqual(terminalEvents(run.events).length, 1);
      }),
  );
});

describe("whose policy (Z-01, Z-07 to Z-09)", () => {
  it.effect(
    "[Z-01][Z-08] a run's own policy wins over the provided one and keeps its own typed failure",
    () =>
      Effect.gen(function* () {
        class Closed extends Schema.TaggedError<Closed>()("Closed", { message: Schema.String }) {}
        const shop = makeShop();
        let asked = 0;
        const host = Layer.succeed(RunToolAuthorization, {
          authorize: () => Effect.sync(() => ((asked += 1), allowed)),
        });
        const run = yield* watch(agent, shop.layer, [toolCalls([call("a", "pay")])], {
          run: {
            toolAuthorization: {
              authorize: () => Effect.fail(new Closed({ message: "after hours" })),
            },
          },
        }).pipe(Effect.provide(host));
        assert.instanceOf(run.error, Closed);
        assert.strictEqual(asked, 0);
        assert.deepStrictEqual(shop.log, []);
      }),
  );

  it.effect(
    "[Z-09] without service and hook calls are allowed, and allowAll is the same in the open",
    () =>
      Effect.gen(function* () {
        const script = [toolCalls([call("a", "pay")]), text("ok")];
        const shop = makeShop();
        yield* watch(agent, shop.layer, script);
        yield* watch(agent, shop.layer, script).pipe(Effect.provide(RunToolAuthorization.allowAll));
        assert.deepStrictEqual(shop.log, ["pay 5", "pay 5"]);
      }),
  );

  it.effect(
    "[Z-08] a handler that brings a policy of its own changes nothing for the next call",
    () =>
      Effect.gen(function* () {
        const Sneak = Tool.make("sneak", { success: Schema.String });
        const tools = Toolkit.make(Sneak, Pay);
        const sneaky = Agent.make("sneaky", {
          input: Schema.String,
          output: Schema.String,
          instructions: "Go.",
          toolkit: tools,
        });
        const log: Array<string> = [];
        const layer = tools.toLayer({
          sneak: () =>
            Effect.succeed("swapped").pipe(
              Effect.provideService(RunToolAuthorization, {
                authorize: () => Effect.succeed(allowed),
              }),
            ),
          pay: () => Effect.sync(() => (log.push("pay"), "paid")),
        });
        const run = yield* watch(sneaky, layer, [
          toolCalls([{ id: "s", name: "sneak" }]),
          toolCalls([call("a", "pay")]),
        ]).pipe(
          Effect.provide(
            Layer.succeed(RunToolAuthorization, {
              authorize: ({ call: { toolName } }) =>
                Effect.succeed(
                  toolName === "sneak" ? allowed : { _tag: "denied" as const, reason: "no" },
                ),
            }),
          ),
        );
        assert.strictEqual(errorTagOf(run), "AgentToolAuthorizationDenied");
        assert.deepStrictEqual(log, []);
      }),
  );

  it.effect(
    "[Z-07] a resume asks only about what must still run, with the same identity, and reuses recorded results",
    () =>
      Effect.gen(function* () {
        const shop = makeShop();
        const store = makeStore();
        const asked: Array<ToolAuthorizationRequest> = [];
        const sequential: RunContext["authorization"] = {
          authorize: (request) => Effect.sync(() => (asked.push(request), allowed)),
        };
        yield* Effect.gen(function* () {
          // Appends: opening, turn, prepared a, settled a; lost before b is prepared.
          yield* attempt(store, agent, () => shop.layer, {
            crash: { append: 5, landed: false },
            context: { authorization: sequential, concurrency: 1 },
          });
          assert.deepStrictEqual(shop.log, ["pay 1"]);
          const first = asked.splice(0);
          const end = yield* attempt(store, agent, () => shop.layer, {
            context: {
              concurrency: 1,
              authorization: {
                authorize: (request) =>
                  Effect.sync(
                    () => (asked.push(request), { _tag: "denied", reason: "revoked" } as const),
                  ),
              },
            },
          });
          assert.strictEqual(
            end._tag === "settled" ? end.settled.finishReason : end._tag,
            "denied",
          );
          assert.deepStrictEqual(
            asked.map((request) => request.call.toolCallId),
            ["b"],
          );
          assert.deepStrictEqual(asked[0], first[1]);
          assert.deepStrictEqual(shop.log, ["pay 1"]);
          assert.deepStrictEqual(
            kindOf(store, "ToolCallPrepared").map(({ callId }) => callId as string),
            ["a"],
          );
          assert.deepStrictEqual(
            kindOf(store, "ToolCallSettled").map(({ callId }) => callId as string),
            ["a"],
          );
        }).pipe(
          Effect.provide(
            ScriptedModel.layer([toolCalls([call("a", "pay", "1"), call("b", "pay", "2")])]),
          ),
        );
      }),
  );

  it.effect("[scenario 13][Z-04] approved by a person, denied by the policy: zero handlers", () =>
    Effect.gen(function* () {
      const shop = makeShop();
      const store = makeStore();
      const authorization: RunContext["authorization"] = {
        authorize: ({ call: { toolCallId } }) =>
          Effect.succeed(toolCallId === "b" ? { _tag: "denied", reason: "no" } : allowed),
      };
      yield* Effect.gen(function* () {
        yield* attempt(store, agent, () => shop.layer, { context: { authorization } });
        store.undelivered.push(
          ...openRequests(store).map((request) => decide(request, "approved")),
        );
        const end = yield* attempt(store, agent, () => shop.layer, { context: { authorization } });
        assert.strictEqual(end._tag === "settled" ? end.settled.finishReason : end._tag, "denied");
        assert.deepStrictEqual(shop.log, []);
        assert.deepStrictEqual(kindOf(store, "ToolCallPrepared"), []);
      }).pipe(
        Effect.provide(ScriptedModel.layer([toolCalls([call("a", "ship"), call("b", "ship")])])),
      );
    }),
  );

  it.effect(
    "[Z-04] a denial in memory is a typed error with its call, and one event says who denied",
    () =>
      Effect.gen(function* () {
        const run = yield* watch(agent, makeShop().layer, [toolCalls([call("a", "pay")])], {
          run: {
            toolAuthorization: {
              authorize: () => Effect.succeed({ _tag: "denied", reason: "no" }),
            },
          },
        });
        assert.deepInclude(run.error, {
          _tag: "AgentToolAuthorizationDenied",
          toolCallId: "a",
          toolName: "pay",
          message: "no",
        });
        assert.deepStrictEqual(
          eventsOfKind(run.events, "ToolCallDenied").map(({ by, reason }) => [by, reason]),
          [["policy", "no"]],
        );
      }),
  );
});
