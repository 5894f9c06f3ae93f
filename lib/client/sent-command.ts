/**
 * What was sent for one intention, and under which id. While nobody knows whether the first try got
 * through, whatever is sent for the same verb keeps its id: it acts once at most, and the server's
 * refusal of other words under that id says that the first try was carried out (C039, C062, OP-09).
 */
import { ApiFailure, isInDoubt } from "./api-failure.ts";

/** What a press means. */
export interface Intention {
  readonly verb: string;
  /** The words that go to the audit with it. */
  readonly reason: string;
  /** All that the command says, as text that can be compared. */
  readonly content: string;
}

/** An intention as it went out when its id was first used. */
export interface SentCommand extends Intention {
  readonly commandId: string;
  /** No answer came to a try: it may have been carried out. */
  readonly inDoubt: boolean;
}

/** The command that a press sends: a new one, or the one before under its id. */
export const commandToSend = (
  last: SentCommand | undefined,
  intention: Intention,
  newId: () => string,
): SentCommand =>
  last !== undefined &&
  last.verb === intention.verb &&
  (last.inDoubt || last.content === intention.content)
    ? last
    : { ...intention, commandId: newId(), inDoubt: false };

/** The command after a try that failed; a doubt stays until an answer says what became of it. */
export const afterFailure = (sent: SentCommand, failure: unknown): SentCommand =>
  sent.inDoubt || !isInDoubt(failure) ? sent : { ...sent, inDoubt: true };

/** True when a failure says that the try whose answer was lost was carried out, as it was sent then. */
export const firstTryStands = (sent: SentCommand | undefined, failure: unknown): boolean =>
  sent?.inDoubt === true && failure instanceof ApiFailure && failure.tag === "IdempotencyConflict";
