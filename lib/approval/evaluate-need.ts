/**
 * Whether a person is asked before a call runs.
 */
import * as Cause from "effect/Cause";
import type * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import type * as Prompt from "effect/unstable/ai/Prompt";
import type * as Tool from "effect/unstable/ai/Tool";
import { ApprovalPolicyError } from "#lib/agent-error.ts";
import { exitWithin } from "#lib/approval/exit-within.ts";

/** What a tool's rule said about one call. */
export type ApprovalNeed =
  | { readonly _tag: "notNeeded" }
  /** `declared`: `needsApproval: true`. `rule`: its function said so. */
  | { readonly _tag: "needed"; readonly because: "declared" | "rule" }
  /** The function could not be relied on, so a person is asked (`A-01`). */
  | {
      readonly _tag: "needed";
      readonly because: "ruleFailed";
      readonly failure: ApprovalPolicyError;
    };

/** The call a rule is asked about. */
export interface NeedQuestion {
  readonly toolCallId: string;
  /** Decoded parameters: a rule never sees what the model wrote (`A-01`). */
  readonly decodedParameters: unknown;
  /** The conversation that led to the call. */
  readonly messages: ReadonlyArray<Prompt.Message>;
}

/** How long a rule may think (`A-01`). */
export const needTimeout: Duration.Input = "10 seconds";

/** Whether a tool declares no approval at all, so that there is nothing to evaluate. */
export const needsNobody = ({ needsApproval }: Tool.Any): boolean =>
  needsApproval === undefined || needsApproval === false;

/**
 * Asks a tool's `needsApproval` about one call, once; the caller keeps the
 * answer with the call and never asks again (`A-01`).
 *
 * Fails closed: a rule that fails, dies, interrupts itself, takes longer than
 * `timeout` or answers with anything but a boolean means that a person is asked.
 * Interruption of the caller stays an interruption.
 */
export const evaluateNeed = Effect.fnUntraced(function* (
  tool: Tool.Any,
  question: NeedQuestion,
  timeout: Duration.Input = needTimeout,
): Effect.fn.Return<ApprovalNeed> {
  const rule = tool.needsApproval;
  if (rule === undefined || rule === false) return { _tag: "notNeeded" };
  if (typeof rule !== "function") return { _tag: "needed", because: "declared" };

  const failed = (message: string, cause?: unknown): ApprovalNeed => ({
    _tag: "needed",
    because: "ruleFailed",
    failure: new ApprovalPolicyError({
      toolCallId: question.toolCallId,
      toolName: tool.name,
      part: "need",
      message: `The approval rule of tool ${tool.name} ${message}, so a person is asked.`,
      ...(cause === undefined ? {} : { cause }),
    }),
  });

  const ask = Effect.suspend(() => {
    const answer: unknown = rule(question.decodedParameters, {
      toolCallId: question.toolCallId,
      messages: question.messages,
    });
    // The upstream type promises an effect without failures or requirements; what it really does is caught below.
    return Effect.isEffect(answer)
      ? (answer as Effect.Effect<unknown, unknown>)
      : Effect.succeed(answer);
  });

  const outcome = yield* exitWithin(ask, timeout);
  if (Option.isNone(outcome)) return failed("did not answer in time");
  if (Exit.isFailure(outcome.value))
    return failed(faultOf(outcome.value.cause), outcome.value.cause);
  const answer = outcome.value.value;
  if (answer === true) return { _tag: "needed", because: "rule" };
  if (answer === false) return { _tag: "notNeeded" };
  return failed(
    `answered with ${answer === null ? "null" : `a value of type ${typeof answer}`} in place of true or false`,
  );
});

const faultOf = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasDies(cause)) return "threw";
  return Cause.hasFails(cause) ? "failed" : "interrupted itself";
};
