/**
 * What one running call holds for the things its handler does inside it: the
 * steps it has taken, and how it must end whatever its handler makes of that.
 */
import type * as Cause from "effect/Cause";
import * as Data from "effect/Data";
import * as Effect from "effect/Effect";
import type { CallSteps } from "#lib/durable/call-steps.ts";
import type { CallEvidence } from "#lib/durable/run-state.ts";
import type { CallOutcome } from "./classify-exit.ts";
import type { DurabilityError, RunDurability } from "./RunDurability.ts";
import type { RunContext } from "./RunContext.ts";

/** Ends the batch: the run fails with this very cause once its siblings are finalised (B-08). */
export class BatchFailure extends Data.TaggedError("BatchFailure")<{
  readonly cause: Cause.Cause<unknown>;
  readonly kind: "tool-failure" | "defect";
  readonly callId: string;
}> {}

/** Something inside the call that decides about the whole of it. */
export type CallEnd =
  /** The whole batch ends: facts cannot be kept, or an inner call ended it. */
  | { readonly _tag: "batch"; readonly error: DurabilityError | BatchFailure }
  | { readonly _tag: "outcome"; readonly outcome: CallOutcome };

/** Thrown through the handler to stop it; that it is caught there changes nothing of the end. */
class CallEnded extends Error {
  override readonly name = "CallEnded";
}

export interface CallInside {
  /** The first end stays. */
  end: CallEnd | undefined;
  /** The handler is done: nothing inside may start any more. */
  closed: boolean;
}

export const makeCallInside = (): CallInside => ({ end: undefined, closed: false });

/** Goes on only while nothing inside has ended the call, whatever its handler made of that. */
export const unlessEnded = (inside: CallInside): Effect.Effect<void> =>
  Effect.suspend(() => (inside.end === undefined ? Effect.void : endCall(inside, inside.end)));

/** Ends the call from inside, however its handler goes on. */
export const endCall = (inside: CallInside, end: CallEnd): Effect.Effect<never> =>
  Effect.suspend(() => {
    inside.end ??= end;
    return Effect.die(new CallEnded("The call was ended by something inside it."));
  });

/** The outcome of a call whose handler ended so, given what happened inside; an interruption stays one. */
export const outcomeInside = (inside: CallInside, outcome: CallOutcome): CallOutcome => {
  const { end } = inside;
  if (end === undefined || outcome._tag === "interrupted") return outcome;
  if (end._tag === "outcome") return end.outcome;
  if (!(end.error instanceof BatchFailure)) return { _tag: "interrupted" };
  // Only the span reads this one: the batch ends with the error itself.
  const failure = { errorTag: "InnerCall", message: "A call inside this one ended the run." };
  return end.error.kind === "defect"
    ? { _tag: "defect", cause: end.error.cause, failure }
    : { _tag: "propagated", cause: end.error.cause, failure };
};

const maxSteps = 256;
const stepName = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The steps of one execution of a call, over what earlier executions have recorded (DU-18). */
export const makeCallSteps = (
  context: RunContext,
  durability: RunDurability["Service"],
  turn: number,
  call: CallEvidence,
  inside: CallInside,
): CallSteps => {
  const claimed = new Set<string>();
  const refuse = (
    reason: Extract<ReturnType<CallSteps["claim"]>, { readonly _tag: "refused" }>["reason"],
    message: string,
  ) => ({ _tag: "refused", reason, message }) as const;
  return {
    claim: (name) => {
      if (inside.closed)
        return refuse("call-ended", "The handler of this call has ended; no step is taken.");
      if (!stepName.test(name))
        return refuse(
          "invalid-name",
          "A step's name has 1 to 128 characters of A-Z a-z 0-9 . _ : -, starting with a letter or digit.",
        );
      if (claimed.has(name))
        return refuse("duplicate-name", `This call has taken a step named ${name} already.`);
      if (claimed.size >= maxSteps)
        return refuse("too-many-steps", `One call takes at most ${maxSteps} steps.`);
      claimed.add(name);
      const step = call.steps.findLast((recorded) => recorded.name === name);
      return step === undefined ? { _tag: "fresh" } : { _tag: "recorded", result: step.result };
    },
    release: (name) => void claimed.delete(name),
    keep: (name, result) =>
      unlessEnded(inside).pipe(
        // A fiber that outlived its handler writes nothing behind the call's own end, or its run's.
        Effect.andThen(
          Effect.suspend(() =>
            inside.closed
              ? Effect.die(new CallEnded("The handler of this call ended before its step did."))
              : Effect.void,
          ),
        ),
        Effect.andThen(
          durability.record([
            {
              _tag: "StepRecorded",
              runId: context.runId,
              turn,
              callId: call.declared.callId,
              toolName: call.declared.toolName,
              name,
              result,
              attempt: context.attempt,
            },
          ]),
        ),
        Effect.catch((error) => endCall(inside, { _tag: "batch", error })),
      ),
  };
};
