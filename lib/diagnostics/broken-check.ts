import * as Cause from "effect/Cause";
import * as Context from "effect/Context";

/**
 * Names, on the cause of a defect, the check that broke. Such a check is asked before a call starts, and its
 * defect is evidence of that call: without the name it would read as one of the call's own handler.
 */
class BrokenCheck extends Context.Service<BrokenCheck, string>()(
  "effect-agent/diagnostics/BrokenCheck",
) {}

/** The cause, if there is a defect in it as that of the check; else as it is. */
export const markBrokenCheck = <E>(cause: Cause.Cause<E>, check: string): Cause.Cause<E> =>
  Cause.hasDies(cause) ? Cause.annotate(cause, Context.make(BrokenCheck, check)) : cause;

/** The check whose defect a failure value is, if it is one. */
export const brokenCheckOf = (value: unknown): string | undefined => {
  try {
    return Cause.isCause(value)
      ? Context.getOrUndefined(Cause.annotations(value), BrokenCheck)
      : undefined;
  } catch {
    // A proxy that throws when it is looked at.
    return undefined;
  }
};
