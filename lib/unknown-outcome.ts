/**
 * How a handler says that it does not know whether its effect happened: a lost
 * connection after the request was sent, a time-out without an answer. The call
 * is then recorded as an effect in doubt and a person settles it (DU-04). It is
 * never turned into a failure, which would tell the model that nothing happened.
 */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";

/** Carried as a defect, so that no error handler of the application takes it for a failure. */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome";
}

/**
 * Ends the handler: whether its effect happened is not known.
 *
 * @param detail what was sent and what was not answered, for operators; at most
 *   2,000 characters, no secrets
 */
export const unknownOutcome = (detail: string): Effect.Effect<never> =>
  Effect.die(new UnknownOutcome(detail.slice(0, 2_000)));

/** The handler's word that it does not know, where the cause holds one. */
export const findUnknownOutcome = (cause: Cause.Cause<unknown>): UnknownOutcome | undefined => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Die" && reason.defect instanceof UnknownOutcome) return reason.defect;
  }
  return undefined;
};
