/**
 * Asks the policy about every executable call of a batch, before any of them runs.
 */
import * as Effect from "effect/Effect";
import {
  AgentToolAuthorizationCheckError,
  AgentToolAuthorizationDenied,
} from "#lib/agent-error.ts";
import { boundedText } from "#lib/diagnostics/bounded-text.ts";
import { markBrokenCheck } from "#lib/diagnostics/broken-check.ts";
import type {
  ToolAuthorizationDecision,
  ToolAuthorizationPolicy,
  ToolAuthorizationRequest,
} from "#lib/run-options.ts";

/** What the evidence of a policy's own defect names, and what tells it from a defect of the call's handler. */
export const brokenPolicy = "authorization";

/** Most UTF-8 bytes of a policy's reason; a longer one is shortened with a marker. */
export const maxReasonBytes = 2_048;

/**
 * Succeeds when the policy allows every call, asked once each in declaration
 * order, the next only after the answer to the one before (`Z-03`). Nothing of the
 * batch has run by then.
 *
 * The outcomes stay apart (`Z-04`, `Z-06`): a refusal fails with
 * `AgentToolAuthorizationDenied` at the first refused call; a check that could not
 * be made keeps the policy's own failure; an answer that is no decision is a check
 * error, never an allowance; a defect stays a defect, an interruption an
 * interruption.
 *
 * @param policy absent = every call is allowed (`Z-09`)
 * @param requests executable calls only: rejected ones and provider-executed ones
 *   are not asked about (`F-06`, `Z-10`), and neither are calls with a recorded
 *   result (`Z-07`)
 */
export const authorizeBatch = Effect.fnUntraced(function* <E = never, R = never>(
  policy: ToolAuthorizationPolicy<E, R> | undefined,
  requests: ReadonlyArray<ToolAuthorizationRequest>,
): Effect.fn.Return<void, AgentToolAuthorizationDenied | AgentToolAuthorizationCheckError | E, R> {
  if (policy === undefined) return;
  for (const request of requests) {
    const decision = yield* Effect.suspend(() => policy.authorize(request)).pipe(
      Effect.catchCause((cause) => Effect.failCause(markBrokenCheck(cause, brokenPolicy))),
    );
    yield* honour(request, decision);
  }
});

/** The type is a promise of the host's code; a wrong promise must not allow anything. */
const honour = (
  { call }: ToolAuthorizationRequest,
  decision: ToolAuthorizationDecision | undefined,
): Effect.Effect<void, AgentToolAuthorizationDenied | AgentToolAuthorizationCheckError> => {
  const identity = { toolCallId: call.toolCallId, toolName: call.toolName };
  switch (decision?._tag) {
    case "allowed":
      return Effect.void;
    case "denied":
      return Effect.fail(
        new AgentToolAuthorizationDenied({
          ...identity,
          message: reasonOf(decision.reason, call.toolName),
          ...("cause" in decision ? { cause: decision.cause } : {}),
        }),
      );
    default:
      return Effect.fail(
        new AgentToolAuthorizationCheckError({
          ...identity,
          message: `The policy answered the call to ${call.toolName} with something that is neither allowed nor denied.`,
          cause: decision,
        }),
      );
  }
};

const reasonOf = (reason: unknown, toolName: string): string =>
  typeof reason === "string" && reason.trim() !== ""
    ? boundedText(reason, maxReasonBytes)
    : `The policy refuses calls to ${toolName}.`;
