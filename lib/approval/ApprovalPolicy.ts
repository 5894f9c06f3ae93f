/**
 * Rules that answer an approval request in place of a person (`A-13`).
 */
import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import type * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";
import { ApprovalPolicyError } from "#lib/agent-error.ts";
import { exitWithin } from "#lib/approval/exit-within.ts";

/** What a rule says; `defer` = a person must answer. */
export type PolicyAnswer =
  | { readonly _tag: "approve"; readonly rule: string; readonly reason?: string }
  | { readonly _tag: "deny"; readonly rule: string; readonly reason: string }
  | { readonly _tag: "defer" };

/** The rules. A rule is named, so that the record says which one decided. */
export interface ApprovalPolicyShape {
  readonly decide: (request: ApprovalRequestContent) => Effect.Effect<PolicyAnswer, unknown>;
}

/** The host's rules; by default every request goes to a person. */
export const ApprovalPolicy = Context.Reference<ApprovalPolicyShape>(
  "effect-agent/approval/ApprovalPolicy",
  {
    defaultValue: () => ({ decide: () => Effect.succeed({ _tag: "defer" }) }),
  },
);

/** What the rules came to; `failure` when they could not be asked and the request was deferred for that. */
export interface PolicyVerdict {
  readonly answer: PolicyAnswer;
  readonly failure?: ApprovalPolicyError;
}

/** How long the rules may think about one request. */
export const policyTimeout: Duration.Input = "10 seconds";

/**
 * Asks the rules about one request. Rules that fail, die, interrupt themselves, take
 * longer than `timeout` or answer nonsense defer to a person, never to approval (`A-13`). An answer is
 * honoured only after the caller has recorded it together with its request.
 */
export const askPolicy = Effect.fnUntraced(function* (
  policy: ApprovalPolicyShape,
  request: ApprovalRequestContent,
  timeout: Duration.Input = policyTimeout,
): Effect.fn.Return<PolicyVerdict> {
  const deferred = (fault: string, cause?: unknown): PolicyVerdict => ({
    answer: { _tag: "defer" },
    failure: new ApprovalPolicyError({
      toolCallId: request.callId,
      toolName: request.toolName,
      part: "policy",
      message: `The approval policy ${fault} for tool ${request.toolName}, so a person is asked.`,
      ...(cause === undefined ? {} : { cause }),
    }),
  });
  const outcome = yield* exitWithin(
    Effect.suspend(() => policy.decide(request)),
    timeout,
  );
  if (Option.isNone(outcome)) return deferred("did not answer in time");
  const exit = outcome.value;
  if (Exit.isFailure(exit))
    return deferred(Cause.hasDies(exit.cause) ? "threw" : "could not decide", exit.cause);
  return isAnswer(exit.value)
    ? { answer: exit.value }
    : deferred("answered with something that is no decision");
});

/** The type is a promise of the host's code; a wrong promise must not approve anything. */
const isAnswer = (answer: PolicyAnswer | undefined): answer is PolicyAnswer => {
  switch (answer?._tag) {
    case "defer":
      return true;
    case "approve":
      return typeof answer.rule === "string";
    case "deny":
      return typeof answer.rule === "string" && typeof answer.reason === "string";
    default:
      return false;
  }
};
