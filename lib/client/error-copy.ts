import type { FailureReason, FailureTag } from "./api-failure.ts";

/** What a person reads when a call failed: what happened, why, and what to do next. */
export interface ErrorCopy {
  readonly title: string;
  readonly cause: string;
  readonly next: string;
  /** What the page offers; `none` when trying the same again cannot help. */
  readonly action: "retry" | "sign-in" | "reload" | "none";
}

/** What a proxy answers for a server that is away, starting or busy. */
export const isGateway = (status: number): boolean =>
  status === 502 || status === 503 || status === 504;

type CopyOf = {
  readonly [Tag in FailureTag]: (reason: Extract<FailureReason, { _tag: Tag }>) => ErrorCopy;
};

/** Total over every error of the API and of the way to it: a new tag does not compile without its words. */
const copies: CopyOf = {
  Unauthenticated: () => ({
    title: "You are signed out",
    cause: "Your sign-in has ended or was never made in this browser.",
    next: "Sign in again; this page opens as you left it.",
    action: "sign-in",
  }),
  Forbidden: (reason) => ({
    title: "Your role does not allow this",
    cause: `${reason.message} It needs the role ${reason.needs}.`,
    next: "Ask an administrator of this installation for that role.",
    action: "none",
  }),
  NotFound: (reason) => ({
    title: `No such ${reason.what}`,
    cause: reason.message,
    next: "Check the address, or open it from its list.",
    action: "none",
  }),
  InvalidInput: (reason) => ({
    title: "The input was not accepted",
    cause: `${reason.message}${reason.limit === undefined ? "" : ` Limit: ${reason.limit}.`}${reason.seen === undefined ? "" : ` Seen: ${reason.seen}.`}`,
    next:
      reason.path === ""
        ? "Correct it and send it again."
        : `Correct ${reason.path} and send it again.`,
    action: "none",
  }),
  IdempotencyConflict: (reason) => ({
    title: "This form was already used for something else",
    cause: reason.message,
    next: "Open the form again; the first use stands.",
    action: "reload",
  }),
  ApprovalAlreadyDecided: (reason) => ({
    title: `Already ${reason.decision}`,
    cause: reason.message,
    next: "Nothing of yours was applied. The card shows what stands.",
    action: "none",
  }),
  ApprovalChanged: (reason) => ({
    title:
      reason.changes === undefined
        ? "What would run is not what you saw"
        : "Something around this call has changed since you looked",
    cause: reason.message,
    next:
      reason.changes === undefined
        ? "The card has been loaded again. Read the arguments before you decide."
        : "The card has been loaded again. What changed is listed here; press again if you still agree.",
    action: "none",
  }),
  ApproverRefused: (reason) => ({
    title: "You may not decide this call",
    cause: reason.message,
    next: "Another operator has to decide it.",
    action: "none",
  }),
  UnknownAlreadyResolved: (reason) => ({
    title: `Already resolved: ${reason.resolution}`,
    cause: reason.message,
    next: "Nothing of yours was applied. The page shows what stands.",
    action: "none",
  }),
  RunArchived: (reason) => ({
    title: "This run was put away",
    cause: reason.message,
    next:
      reason.archive === null
        ? "Its audit rows are kept; the rest is gone."
        : "Ask whoever runs this installation for that file; its audit rows are still here.",
    action: "none",
  }),
  RunAlreadySettled: (reason) => ({
    title: `The run is already ${reason.state}`,
    cause: reason.message,
    next: "Its outcome can no longer change.",
    action: "none",
  }),
  ProbeRefused: (reason) => ({
    title: "The destination was not asked",
    cause: reason.message,
    next:
      reason.why === "under-way"
        ? "Wait for that answer; it appears here."
        : "Look it up by the idempotency key, and resolve it by hand.",
    action: "none",
  }),
  WakeRefused: (reason) => ({
    title: "Nothing to wake",
    cause: reason.message,
    next: "The explanation of the run says what it waits for.",
    action: "none",
  }),
  RetryRefused: (reason) => ({
    title: "Not retried",
    cause: reason.message,
    next: "Submit a new input that says what is left to do.",
    action: "none",
  }),
  TooManyAttempts: (reason) => ({
    title: "Too many attempts",
    cause: reason.message,
    next: `Try again in ${reason.retryAfterSeconds} s.`,
    action: "retry",
  }),
  TooManyStreams: (reason) => ({
    title: "Too many live connections",
    cause: reason.message,
    next: "Close another browser or program that follows events; this page goes on by itself.",
    action: "retry",
  }),
  StoreUnavailable: (reason) => ({
    title: "The database does not answer",
    cause: `${reason.message} Nothing was changed.`,
    next: "Try again in a moment; if it stays, see the Workers page and the server's log.",
    action: "retry",
  }),
  OriginRefused: (reason) => ({
    title: "The request came from another site",
    cause: reason.message,
    next: "Open the console by the address it was set up for, and try there.",
    action: "none",
  }),
  NetworkFailed: (reason) => ({
    title: "The server cannot be reached",
    cause: reason.message,
    next: "Check the connection. Reading is tried again by itself; a command is not.",
    action: "retry",
  }),
  NoAnswerInTime: (reason) => ({
    title: `No answer within ${reason.seconds} s`,
    cause: reason.message,
    next: "The stored truth is read again before anything else is offered.",
    action: "retry",
  }),
  DownloadCut: (reason) => ({
    title: "The download was cut",
    cause: reason.message,
    next: "Nothing was saved. Try again: each try makes a whole new file.",
    action: "retry",
  }),
  UnreadableAnswer: (reason) =>
    isGateway(reason.status)
      ? {
          title: `The server does not answer right now (${reason.status})`,
          cause: `Something in front of it answered in its place. ${reason.message}`,
          next: "Try again in a moment: it may be starting.",
          action: "retry",
        }
      : {
          title: `Unreadable answer (${reason.status})`,
          cause: reason.message,
          next: "Reload the page: the server may be newer than this console.",
          action: "reload",
        },
};

/** Every tag that has words, for the test that compares it with the contract. */
export const knownFailureTags: ReadonlyArray<string> = Object.keys(copies);

/** The words for a failure. */
export const errorCopy = (reason: FailureReason): ErrorCopy => {
  // The map is total and keyed by the tag, so the entry takes exactly this reason.
  const copy = copies[reason._tag] as (reason: FailureReason) => ErrorCopy;
  return copy(reason);
};
