import { assert, describe, it } from "@effect/vitest";
import { Cause, Context, Effect, Exit, Layer, Schema } from "effect";
import { AgentToolAuthorizationCheckError } from "#lib/agent-error.ts";
import {
  RunToolAuthorization,
  type ToolAuthorizationDecision,
  type ToolAuthorizationPolicy,
  type ToolAuthorizationRequest,
} from "#lib/run-options.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { errorOf, eventsOf, runDesk } from "#tests/testing/run-desk.ts";

const batch = toolCalls([
  { id: "a", name: "lookup", params: { orderId: "W1" } },
  { id: "b", name: "refund", params: { orderId: "W1", amount: "120" } },
]);
const free = { needsApproval: false } as const;
const tagOf = (error: unknown) => (error as { readonly _tag?: string } | undefined)?._tag;

describe("a run under a policy", () => {
  it.effect(
    "[Z-02][Z-03] the policy sees each executable call once, in declaration order, with encoded data, before any handler",
    () =>
      Effect.gen(function* () {
        const seen: Array<ToolAuthorizationRequest> = [];
        const started: Array<number> = [];
        const run = yield* runDesk({
          ...free,
          turns: [batch, text("done")],
          lookup: () => Effect.sync(() => String(started.push(seen.length))),
          options: {
            toolAuthorization: {
              authorize: (request) =>
                Effect.sync((): ToolAuthorizationDecision => {
                  seen.push(request);
                  return { _tag: "allowed" };
                }),
            },
          },
        });
        assert.deepStrictEqual(run.exit, Exit.succeed("done"));
        assert.deepStrictEqual(started, [2]);
        assert.deepStrictEqual(
          seen.map(({ turnNumber, input, call }) => ({ turnNumber, input, call })),
          [
            {
              turnNumber: 1,
              input: "Where is my money?",
              call: {
                toolCallId: "a",
                toolName: "lookup",
                parameters: { orderId: "W1" },
                executionClass: "readonly",
              },
            },
            {
              turnNumber: 1,
              input: "Where is my money?",
              call: {
                toolCallId: "b",
                toolName: "refund",
                parameters: { orderId: "W1", amount: "120" },
                executionClass: "uncertain",
              },
            },
          ],
        );
        assert.strictEqual(
          new Set(seen.map(({ runId, threadId, turnId }) => `${runId} ${threadId} ${turnId}`)).size,
          1,
        );
        assert.notProperty(seen[0], "programmatic");
      }),
  );

  it.effect(
    "[Z-04][B-02][DX-06] a denied last call starts nothing, and the private cause is in no event and no request",
    () =>
      Effect.gen(function* () {
        const run = yield* runDesk({
          ...free,
          turns: [batch],
          options: {
            toolAuthorization: {
              authorize: ({ call }) =>
                Effect.succeed(
                  call.toolName === "refund"
                    ? {
                        _tag: "denied",
                        reason: "Refunds are closed.",
                        cause: new Error("canary-evidence"),
                      }
                    : { _tag: "allowed" },
                ),
            },
          },
        });
        assert.deepInclude(errorOf(run) as object, {
          _tag: "AgentToolAuthorizationDenied",
          toolCallId: "b",
          toolName: "refund",
        });
        assert.deepStrictEqual(run.handled, []);
        assert.deepStrictEqual(eventsOf(run, "ToolCallStarted"), []);
        const denied = eventsOf(run, "ToolCallDenied");
        assert.deepStrictEqual(
          denied.map(({ by, reason }) => [by, reason]),
          [["policy", "Refunds are closed."]],
        );
        assert.notInclude(JSON.stringify([run.events, run.requests]), "canary-evidence");
        assert.strictEqual(run.events.at(-1)?._tag, "RunFailed");
      }),
  );

  it.effect(
    "[Z-06] failing, dying and interrupting policies end the run in three different ways, none of them a denial",
    () =>
      Effect.gen(function* () {
        const under = (authorize: ToolAuthorizationPolicy["authorize"]) =>
          runDesk({ ...free, turns: [batch], options: { toolAuthorization: { authorize } } });
        const failed = yield* under(({ call }) =>
          Effect.fail(
            new AgentToolAuthorizationCheckError({
              toolCallId: call.toolCallId,
              toolName: call.toolName,
              message: "The policy store cannot be reached.",
              cause: new Error("canary-connection"),
            }),
          ),
        );
        assert.strictEqual(tagOf(errorOf(failed)), "AgentToolAuthorizationCheckError");
        assert.strictEqual(eventsOf(failed, "AuthorizationCheckFailed").length, 1);
        assert.notInclude(JSON.stringify(failed.events), "canary-connection");
        const died = yield* under(() => Effect.die(new Error("broken policy")));
        assert.isTrue(
          Exit.isFailure(died.exit) &&
            Cause.hasDies(died.exit.cause) &&
            !Cause.hasFails(died.exit.cause),
        );
        const interrupted = yield* under(() => Effect.interrupt);
        assert.isTrue(
          Exit.isFailure(interrupted.exit) && Cause.hasInterruptsOnly(interrupted.exit.cause),
        );
        for (const run of [failed, died, interrupted]) {
          assert.deepStrictEqual(run.handled, []);
          assert.deepStrictEqual(eventsOf(run, "ToolCallDenied"), []);
        }
      }),
  );

  it.effect(
    "[Z-08] a run's own policy wins over the provided one and brings its own failures and services",
    () =>
      Effect.gen(function* () {
        class Tenants extends Context.Service<Tenants, { readonly mayRefund: boolean }>()(
          "test/Tenants",
        ) {}
        class TenantUnknown extends Schema.TaggedError<TenantUnknown>()("TenantUnknown", {
          message: Schema.String,
        }) {}
        const denyAll = Layer.succeed(RunToolAuthorization, {
          authorize: () => Effect.succeed({ _tag: "denied", reason: "closed" } as const),
        });
        const own: ToolAuthorizationPolicy<TenantUnknown, Tenants> = {
          authorize: () =>
            Effect.flatMap(Tenants, ({ mayRefund }) =>
              mayRefund
                ? Effect.succeed({ _tag: "allowed" as const })
                : Effect.fail(new TenantUnknown({ message: "no tenant" })),
            ),
        };
        const withOwn = (mayRefund: boolean) =>
          runDesk({
            ...free,
            turns: [batch, text("done")],
            options: { toolAuthorization: own },
          }).pipe(Effect.provide(denyAll), Effect.provideService(Tenants, { mayRefund }));
        assert.deepStrictEqual((yield* withOwn(true)).exit, Exit.succeed("done"));
        assert.instanceOf(errorOf(yield* withOwn(false)), TenantUnknown);
        const provided = yield* runDesk({ ...free, turns: [batch] }).pipe(Effect.provide(denyAll));
        assert.strictEqual(tagOf(errorOf(provided)), "AgentToolAuthorizationDenied");
      }),
  );

  it.effect("[Z-09] without a policy every call runs", () =>
    Effect.gen(function* () {
      const run = yield* runDesk({ ...free, turns: [batch, text("done")] });
      assert.deepStrictEqual(run.handled.toSorted(), ["lookup W1", "refund W1 120"]);
    }),
  );
});
