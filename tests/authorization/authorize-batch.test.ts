import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Layer, Option, Schema } from "effect";
import {
  AgentToolAuthorizationCheckError,
  AgentToolAuthorizationDenied,
} from "#lib/agent-error.ts";
import { authorizeBatch, brokenPolicy } from "#lib/authorization/authorize-batch.ts";
import { buildAuthorizationRequest } from "#lib/authorization/build-request.ts";
import { captureAuthorizationPolicy, selectPolicy } from "#lib/authorization/select-policy.ts";
import { capture } from "#lib/failure-diagnostic.ts";
import {
  type RunOptions,
  RunToolAuthorization,
  type ToolAuthorizationDecision,
  type ToolAuthorizationPolicy,
  type ToolAuthorizationRequest,
} from "#lib/run-options.ts";

const identity = { threadId: "t-1", runId: "r-1", turnId: "r-1.2", turnNumber: 2 };
const question = (toolName: string, parameters: unknown = {}): ToolAuthorizationRequest =>
  buildAuthorizationRequest(identity, {
    input: { text: "please" },
    call: { toolCallId: `call-${toolName}`, toolName, parameters, executionClass: "uncertain" },
  });
const [search, refund, mail] = ["search", "refund", "mail"].map((name) => question(name)) as [
  ToolAuthorizationRequest,
  ToolAuthorizationRequest,
  ToolAuthorizationRequest,
];

const searchOnly = RunToolAuthorization.of({
  authorize: ({ call }) =>
    Effect.succeed(
      call.toolName === "search"
        ? { _tag: "allowed" }
        : { _tag: "denied", reason: "Only search is permitted." },
    ),
});

/** Answers and writes down what it was asked. */
const recording = (
  answers: (
    request: ToolAuthorizationRequest,
  ) => Effect.Effect<ToolAuthorizationDecision, AgentToolAuthorizationCheckError>,
) => {
  const asked: Array<string> = [];
  const policy: ToolAuthorizationPolicy = {
    authorize: (request) => {
      asked.push(request.call.toolName);
      return answers(request);
    },
  };
  return { asked, policy };
};
const allowed: ToolAuthorizationDecision = { _tag: "allowed" };

describe("authorizeBatch", () => {
  it.effect(
    "[Z-01][Z-03] every call is asked about once, in declaration order, one after the other",
    () =>
      Effect.gen(function* () {
        let open = 0;
        const { asked, policy } = recording(() =>
          Effect.gen(function* () {
            open += 1;
            assert.strictEqual(open, 1);
            yield* Effect.yieldNow;
            open -= 1;
            return allowed;
          }),
        );
        yield* authorizeBatch(policy, [refund, search, mail]);
        assert.deepStrictEqual(asked, ["refund", "search", "mail"]);
      }),
  );

  it.effect(
    "[Z-04] a refusal fails with the call, the reason and the private cause, and no later call is asked about",
    () =>
      Effect.gen(function* () {
        const evidence = new Error("row level: tenant 7, canary");
        const { asked, policy } = recording(({ call }) =>
          Effect.succeed(
            call.toolName === "refund"
              ? { _tag: "denied", reason: "Refunds are closed.", cause: evidence }
              : allowed,
          ),
        );
        const error = yield* Effect.flip(authorizeBatch(policy, [search, refund, mail]));
        assert.instanceOf(error, AgentToolAuthorizationDenied);
        assert.deepInclude({ ...error }, { toolCallId: "call-refund", toolName: "refund" });
        assert.strictEqual(error.message, "Refunds are closed.");
        assert.strictEqual(error.cause, evidence);
        assert.deepStrictEqual(asked, ["search", "refund"]);
        const fresh = yield* Effect.flip(authorizeBatch(searchOnly, [search, refund]));
        assert.strictEqual(fresh._tag, "AgentToolAuthorizationDenied");
        assert.notProperty(fresh, "cause");
      }),
  );

  it.effect(
    "[Z-06] a check error, a defect, a thrown error and an interruption are four things, and none is a denial",
    () =>
      Effect.gen(function* () {
        const failing = (
          effect: Effect.Effect<ToolAuthorizationDecision, AgentToolAuthorizationCheckError>,
        ) => Effect.exit(authorizeBatch(recording(() => effect).policy, [refund]));
        const trouble = new Error("database unreachable");
        const checkError = new AgentToolAuthorizationCheckError({
          toolCallId: "call-refund",
          toolName: "refund",
          message: "The policy store cannot be reached.",
          cause: trouble,
          check: "tenant",
        });
        const checked = yield* failing(Effect.fail(checkError));
        assert.strictEqual(
          Exit.isFailure(checked) && Option.getOrNull(Cause.findErrorOption(checked.cause)),
          checkError,
        );
        assert.strictEqual(checkError.cause, trouble);
        const died = yield* failing(Effect.die("broken policy"));
        assert.isTrue(
          Exit.isFailure(died) && Cause.hasDies(died.cause) && !Cause.hasFails(died.cause),
        );
        const threw = yield* failing(
          Effect.suspend(() => {
            throw new Error("broken policy");
          }),
        );
        assert.isTrue(
          Exit.isFailure(threw) && Cause.hasDies(threw.cause) && !Cause.hasFails(threw.cause),
        );
        const interrupted = yield* failing(Effect.interrupt);
        assert.isTrue(Exit.isFailure(interrupted) && Cause.hasInterruptsOnly(interrupted.cause));
        const checkOf = (exit: Exit.Exit<unknown, unknown>) =>
          Exit.isFailure(exit) ? capture(exit.cause).context?.check : "nothing failed";
        assert.deepStrictEqual(
          [died, threw, checked, interrupted].map(checkOf),
          [brokenPolicy, brokenPolicy, undefined, undefined],
          "the evidence of a defect says that it is the policy's, and not the call's own",
        );
      }),
  );

  it.effect("[Z-06] an answer that is no decision is a check error, never an allowance", () =>
    Effect.gen(function* () {
      for (const answer of [undefined, null, true, {}, { _tag: "Allowed" }, "allowed"]) {
        const { policy } = recording(() => Effect.succeed(answer as never));
        const error = yield* Effect.flip(authorizeBatch(policy, [refund]));
        assert.strictEqual(error._tag, "AgentToolAuthorizationCheckError");
      }
    }),
  );

  it.effect("[Z-04] a reason is bounded, and a refusal without one still says something", () =>
    Effect.gen(function* () {
      const reasonFor = (reason: string) =>
        Effect.map(
          Effect.flip(
            authorizeBatch(recording(() => Effect.succeed({ _tag: "denied", reason })).policy, [
              refund,
            ]),
          ),
          ({ message }) => message,
        );
      const long = yield* reasonFor("é".repeat(5_000));
      assert.isTrue(long.endsWith("[truncated]"));
      assert.isAtMost(new TextEncoder().encode(long).length, 2_048);
      assert.include(yield* reasonFor(" "), "refund");
      assert.include(yield* reasonFor(undefined as never), "refund");
    }),
  );
});

describe("buildAuthorizationRequest", () => {
  it("[Z-02] holds run identity, encoded input, the call with its class, and the place of an inner call", () => {
    const facts = {
      input: { text: "please" },
      call: {
        toolCallId: "c1",
        toolName: "refund",
        parameters: { amount: "120" },
        executionClass: "idempotent" as const,
      },
    };
    assert.deepStrictEqual(buildAuthorizationRequest(identity, facts), { ...identity, ...facts });
    const inner = { ...facts, programmatic: { parentToolCallId: "c0", sequenceIndex: 4 } };
    assert.deepStrictEqual(buildAuthorizationRequest(identity, inner), { ...identity, ...inner });
  });

  it.effect(
    "[Z-02] a policy never holds the live objects: what it changes changes nothing of the run",
    () =>
      Effect.gen(function* () {
        const parameters = { amount: "120", lines: [{ sku: "a" }] };
        const input = { text: "please" };
        const request = buildAuthorizationRequest(identity, {
          input,
          call: { toolCallId: "c1", toolName: "refund", parameters, executionClass: "uncertain" },
        });
        yield* authorizeBatch(
          {
            authorize: ({ call, input: seen }) =>
              Effect.sync((): ToolAuthorizationDecision => {
                const live = call.parameters as typeof parameters;
                live.amount = "999999";
                live.lines.push({ sku: "b" });
                Object.assign(seen as object, { text: "changed" });
                return allowed;
              }),
          },
          [request],
        );
        assert.deepStrictEqual(parameters, { amount: "120", lines: [{ sku: "a" }] });
        assert.deepStrictEqual(input, { text: "please" });
      }),
  );
});

describe("which policy is asked", () => {
  class StoreDown extends Schema.TaggedError<StoreDown>()("StoreDown", {
    message: Schema.String,
  }) {}

  it.effect("[Z-08] a run's own policy wins over the host's and keeps its own typed failure", () =>
    Effect.gen(function* () {
      const own: ToolAuthorizationPolicy<StoreDown> = {
        authorize: () => Effect.fail(new StoreDown({ message: "no store" })),
      };
      const options: RunOptions<StoreDown> = { toolAuthorization: own };
      const host = yield* captureAuthorizationPolicy.pipe(
        Effect.provide(Layer.succeed(RunToolAuthorization, searchOnly)),
      );
      const selected = selectPolicy(options.toolAuthorization, host);
      assert.strictEqual(selected.source, "run");
      const error = yield* Effect.flip(authorizeBatch(selected.policy, [refund]));
      assert.instanceOf(error, StoreDown);
      const ofHost = selectPolicy(undefined, host);
      assert.strictEqual(ofHost.source, "host");
      assert.strictEqual(
        (yield* Effect.flip(authorizeBatch(ofHost.policy, [refund])))._tag,
        "AgentToolAuthorizationDenied",
      );
    }),
  );

  it.effect(
    "[Z-08] what was captured stays, absence included, whatever surrounds a later caller",
    () =>
      Effect.gen(function* () {
        const captured = yield* captureAuthorizationPolicy;
        const later = Effect.suspend(() =>
          authorizeBatch(selectPolicy(undefined, captured).policy, [refund]),
        );
        yield* later.pipe(Effect.provideService(RunToolAuthorization, searchOnly));
        assert.strictEqual(selectPolicy(undefined, captured).source, "none");
      }),
  );

  it.effect(
    "[Z-09] without a policy calls are allowed, and a host's explicit allowAll is seen as one",
    () =>
      Effect.gen(function* () {
        yield* authorizeBatch(undefined, [refund, mail]);
        const captured = yield* captureAuthorizationPolicy.pipe(
          Effect.provide(RunToolAuthorization.allowAll),
        );
        const selected = selectPolicy(undefined, captured);
        assert.strictEqual(selected.source, "host");
        yield* authorizeBatch(selected.policy, [refund, mail]);
      }),
  );
});

describe("denials across JSON", () => {
  it("[Z-04][DX-06] the private cause encodes to a bounded diagnostic and its payload is gone", () => {
    const cause = Object.assign(new Error("Bearer abc123 rejected"), { ssn: "078-05-1120" });
    const denied = new AgentToolAuthorizationDenied({
      toolCallId: "c1",
      toolName: "refund",
      message: "Refunds are closed.",
      cause,
    });
    const encoded = Schema.encodeSync(AgentToolAuthorizationDenied)(denied);
    assert.deepStrictEqual(encoded.cause, capture(cause));
    const text = JSON.stringify(encoded);
    assert.notInclude(text, "abc123");
    assert.notInclude(text, "078-05-1120");
    const decoded = Schema.decodeUnknownSync(AgentToolAuthorizationDenied)(JSON.parse(text));
    assert.isFalse(decoded.cause instanceof Error);
  });
});
