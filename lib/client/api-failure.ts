import * as Schema from "effect/Schema";
import {
  type ApiError,
  type ApiErrorTag,
  ApprovalAlreadyDecided,
  ApprovalChanged,
  ApproverRefused,
  Forbidden,
  IdempotencyConflict,
  InvalidInput,
  NotFound,
  OriginRefused,
  ProbeRefused,
  RetryRefused,
  RunAlreadySettled,
  RunArchived,
  StoreUnavailable,
  TooManyAttempts,
  TooManyStreams,
  Unauthenticated,
  UnknownAlreadyResolved,
  WakeRefused,
} from "../contract/errors.ts";

/** What can go wrong on the way, where the API itself has not answered with one of its own errors. */
export type TransportFault =
  /** The request did not reach the server, or the answer did not reach us. */
  | { readonly _tag: "NetworkFailed"; readonly message: string }
  /** No answer in time; whether the server acted is not known. */
  | { readonly _tag: "NoAnswerInTime"; readonly message: string; readonly seconds: number }
  /** A file whose beginning came, and not its end; what did come is thrown away. */
  | { readonly _tag: "DownloadCut"; readonly message: string }
  /** An answer that this version of the console cannot read. */
  | { readonly _tag: "UnreadableAnswer"; readonly message: string; readonly status: number };

export type FailureReason = ApiError | TransportFault;
export type FailureTag = ApiErrorTag | TransportFault["_tag"];

/** Every call of `lib/client/api` rejects with this and nothing else. */
export class ApiFailure extends Error {
  readonly reason: FailureReason;
  constructor(reason: FailureReason) {
    super(reason.message);
    this.name = "ApiFailure";
    this.reason = reason;
  }
  get tag(): FailureTag {
    return this.reason._tag;
  }
}

const anyApiError = Schema.Union([
  Unauthenticated,
  Forbidden,
  NotFound,
  InvalidInput,
  IdempotencyConflict,
  ApprovalAlreadyDecided,
  ApprovalChanged,
  ApproverRefused,
  UnknownAlreadyResolved,
  RunAlreadySettled,
  RunArchived,
  ProbeRefused,
  WakeRefused,
  RetryRefused,
  TooManyAttempts,
  TooManyStreams,
  StoreUnavailable,
  OriginRefused,
]);

const decodeApiError = Schema.decodeUnknownOption(anyApiError);

/** Reads the body of an answer that is not a success; a body we do not know is an `UnreadableAnswer`. */
export const failureOfAnswer = (status: number, body: unknown): ApiFailure => {
  const known = decodeApiError(body);
  if (known._tag === "Some") return new ApiFailure(known.value);
  return new ApiFailure({
    _tag: "UnreadableAnswer",
    status,
    message: `The server answered ${status} in a form this console does not know.`,
  });
};

/** True when nobody can say whether the server acted: look before trying again (C039). */
export const isInDoubt = (failure: unknown): boolean =>
  failure instanceof ApiFailure &&
  (failure.tag === "NetworkFailed" ||
    failure.tag === "NoAnswerInTime" ||
    failure.tag === "UnreadableAnswer");
