/** Which reads are tried again by themselves, when, and what a page says meanwhile. Commands are never repeated. */
import { ApiFailure } from "./api-failure.ts";
import { errorCopy, isGateway } from "./error-copy.ts";

const mostRepeats = 2;

/** Reads are tried again only where trying again can help. */
export const worthRepeating = (repeats: number, error: unknown): boolean =>
  repeats < mostRepeats &&
  error instanceof ApiFailure &&
  (error.reason._tag === "NetworkFailed" ||
    error.reason._tag === "StoreUnavailable" ||
    error.reason._tag === "NoAnswerInTime" ||
    (error.reason._tag === "UnreadableAnswer" && isGateway(error.reason.status)));

/** @param repeats how often it was tried again before */
export const repeatAfterMillis = (repeats: number): number => 600 * 2 ** repeats;

/** What holds a read up that is being tried again. */
export const waitingWords = (error: unknown): string => {
  if (!(error instanceof ApiFailure)) return "It did not work, trying again";
  const { reason } = error;
  return reason._tag === "StoreUnavailable" || reason._tag === "UnreadableAnswer"
    ? "The server is busy, trying again"
    : `${errorCopy(reason).title}, trying again`;
};
