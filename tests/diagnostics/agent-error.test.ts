import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import * as AgentError from "#lib/agent-error.ts";

const call = { toolCallId: "c1", toolName: "refund" };
const live = {
  cause: Object.assign(new Error("socket closed, password: hunter2"), {
    payload: "canary-payload",
  }),
};

/** One of each, with a live cause wherever there can be one. */
const errors = [
  new AgentError.AgentToolAuthorizationDenied({ ...call, message: "Refunds are closed.", ...live }),
  new AgentError.AgentToolAuthorizationCheckError({
    ...call,
    message: "The policy cannot be asked.",
    check: "tenant",
    callId: "c2",
    ...live,
  }),
  new AgentError.AgentToolApprovalDenied({
    ...call,
    message: "A person denied the call.",
    requestId: "r1",
  }),
  new AgentError.AgentToolApprovalExpired({
    ...call,
    message: "Nobody decided in time.",
    expiredAt: 5,
  }),
  new AgentError.ApprovalPolicyError({ ...call, part: "preview", message: "No preview.", ...live }),
  new AgentError.ModelProtocolError({
    reason: "exposure-limit",
    message: "65 tools, 64 allowed.",
    limit: 64,
    seen: 65,
    ...live,
  }),
  new AgentError.AgentToolCallRejected({
    ...call,
    reason: "unknown-tool",
    message: "No such tool.",
    ...live,
  }),
  new AgentError.AgentToolResultEncodingError({
    ...call,
    reason: "not-json",
    message: "A bigint.",
    ...live,
  }),
  new AgentError.AgentRepeatedFailureError({
    ...call,
    limit: 3,
    seen: 3,
    message: "Three failures in a row.",
  }),
  new AgentError.AgentBudgetExceeded({
    dimension: "turns",
    limit: 12,
    seen: 13,
    message: "12 turns are spent.",
  }),
  new AgentError.AgentOutputInvalid({ message: "No JSON.", ...live }),
  new AgentError.AgentDefinitionError({
    agentName: "desk",
    message: "Two tools of one name.",
    ...live,
  }),
  new AgentError.SchedulingOverrideInvalid({
    seen: "0",
    limit: 4,
    message: "0 is no concurrency.",
  }),
  new AgentError.AgentRunSuspended({ runId: "run-1", waitingFor: "approval", ...live }),
] as const;

describe("typed run failures", () => {
  it("the list above has every error of the module", () => {
    assert.deepStrictEqual(
      errors.map(({ _tag }) => _tag).toSorted(),
      Object.keys(AgentError)
        .filter((name) => /^(?:Agent|Approval|Model|Scheduling)/.test(name))
        .toSorted(),
    );
  });

  for (const error of errors) {
    it.effect(
      `[DX-01][DX-06] ${error._tag} keeps its live cause in the process and only a bounded diagnostic across JSON`,
      () =>
        Effect.gen(function* () {
          assert.strictEqual(
            yield* Effect.flip(error as Effect.Effect<never, typeof error>),
            error,
          );
          assert.isTrue(error.message.endsWith("."));
          if ("cause" in error && error.cause !== undefined)
            assert.strictEqual(error.cause, live.cause);
          // The class of an error is its schema.
          const schema = error.constructor as unknown as Schema.Codec<typeof error, object>;
          const text = JSON.stringify(Schema.encodeSync(schema)(error));
          assert.notInclude(text, "hunter2");
          assert.notInclude(text, "canary-payload");
          const decoded = Schema.decodeUnknownSync(schema)(JSON.parse(text));
          assert.strictEqual(decoded._tag, error._tag);
          assert.strictEqual(decoded.message, error.message);
          assert.isFalse("cause" in decoded && decoded.cause instanceof Error);
        }),
    );
  }
});
