/**
 * Every error that can reach a client of the API, with its HTTP status. One
 * layer: domain errors carry their status and flow to the wire unmapped. The
 * message is a sentence for a person that names what, where, the limit and the
 * value seen.
 */
import * as Schema from "effect/Schema";
import { BasisChange } from "./approval.ts";
import { RunId } from "./ids.ts";
import { ApprovalState, ResolutionKind, RunOutcome, RunState } from "./status.ts";

/** No credentials, or credentials that are not valid any more. */
export class Unauthenticated extends Schema.TaggedError<Unauthenticated>()(
  "Unauthenticated",
  { message: Schema.String },
  { httpApiStatus: 401 },
) {}

/** The operator is known but may not do this (Z-12). */
export class Forbidden extends Schema.TaggedError<Forbidden>()(
  "Forbidden",
  { message: Schema.String, needs: Schema.String },
  { httpApiStatus: 403 },
) {}

/** A foreign id and a missing id look the same (C042). */
export class NotFound extends Schema.TaggedError<NotFound>()(
  "NotFound",
  { message: Schema.String, what: Schema.String },
  { httpApiStatus: 404 },
) {}

/** The input is not acceptable; `path` names where, `limit` and `seen` the bound and the value. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  {
    message: Schema.String,
    path: Schema.String,
    limit: Schema.optionalKey(Schema.String),
    seen: Schema.optionalKey(Schema.String),
  },
  { httpApiStatus: 422 },
) {}

/** The same idempotency key or command id was used for something else (DU-11, OP-09). */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()(
  "IdempotencyConflict",
  { message: Schema.String, key: Schema.String },
  { httpApiStatus: 409 },
) {}

/** Somebody, or the clock, was first; names who decided what and when (A-09, C022). */
export class ApprovalAlreadyDecided extends Schema.TaggedError<ApprovalAlreadyDecided>()(
  "ApprovalAlreadyDecided",
  {
    message: Schema.String,
    decision: ApprovalState,
    decidedBy: Schema.String,
    decidedAt: Schema.Int,
  },
  { httpApiStatus: 409 },
) {}

/** What would run, or what it would be judged by, is not what the operator saw (A-09, C026, C049). */
export class ApprovalChanged extends Schema.TaggedError<ApprovalChanged>()(
  "ApprovalChanged",
  {
    message: Schema.String,
    seenDigest: Schema.String,
    currentDigest: Schema.String,
    /** What is different around the arguments; absent where the arguments themselves are. */
    changes: Schema.optionalKey(Schema.Array(BasisChange)),
  },
  { httpApiStatus: 409 },
) {}

/** The requester may not decide this call, or this approver already has (C041). */
export class ApproverRefused extends Schema.TaggedError<ApproverRefused>()(
  "ApproverRefused",
  { message: Schema.String },
  { httpApiStatus: 403 },
) {}

/** The effect in doubt was resolved before, differently (DU-07). */
export class UnknownAlreadyResolved extends Schema.TaggedError<UnknownAlreadyResolved>()(
  "UnknownAlreadyResolved",
  {
    message: Schema.String,
    resolution: ResolutionKind,
    resolvedBy: Schema.String,
    resolvedAt: Schema.Int,
  },
  { httpApiStatus: 409 },
) {}

/** The run was here and is not any more: archived or deleted by age (retention). */
export class RunArchived extends Schema.TaggedError<RunArchived>()(
  "RunArchived",
  {
    message: Schema.String,
    /** Also where something of it was asked for; absent from what older servers answer. */
    runId: Schema.optionalKey(RunId),
    outcome: RunOutcome,
    settledAt: Schema.Int,
    archivedAt: Schema.Int,
    /** Name of the archive's file; null: deleted without one. */
    archive: Schema.NullOr(Schema.String),
  },
  { httpApiStatus: 410 },
) {}

/** The run is settled; its outcome cannot change any more (DU-12). */
export class RunAlreadySettled extends Schema.TaggedError<RunAlreadySettled>()(
  "RunAlreadySettled",
  { message: Schema.String, state: RunState },
  { httpApiStatus: 409 },
) {}

/** The destination cannot be asked about this effect now. */
export class ProbeRefused extends Schema.TaggedError<ProbeRefused>()(
  "ProbeRefused",
  { message: Schema.String, why: Schema.Literals(["under-way", "no-probe", "settled"]) },
  { httpApiStatus: 409 },
) {}

/** Waking would change nothing: the run waits for a person, or works already. */
export class WakeRefused extends Schema.TaggedError<WakeRefused>()(
  "WakeRefused",
  { message: Schema.String, state: RunState },
  { httpApiStatus: 409 },
) {}

/** A retry could do an effect twice, or there is nothing to retry. */
export class RetryRefused extends Schema.TaggedError<RetryRefused>()(
  "RetryRefused",
  { message: Schema.String, state: RunState },
  { httpApiStatus: 409 },
) {}

/** Too many attempts; try again after the given seconds. */
export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()(
  "TooManyAttempts",
  { message: Schema.String, retryAfterSeconds: Schema.Int },
  { httpApiStatus: 429 },
) {}

/** The operator already follows as many event streams as one may at once. */
export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()(
  "TooManyStreams",
  { message: Schema.String, limit: Schema.Int },
  { httpApiStatus: 429 },
) {}

/** The database cannot be reached or refused for a passing reason; nothing was changed. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()(
  "StoreUnavailable",
  { message: Schema.String },
  { httpApiStatus: 503 },
) {}

/** The request came from another site (OP-09). */
export class OriginRefused extends Schema.TaggedError<OriginRefused>()(
  "OriginRefused",
  { message: Schema.String },
  { httpApiStatus: 403 },
) {}

export type ApiError =
  | Unauthenticated
  | Forbidden
  | NotFound
  | InvalidInput
  | IdempotencyConflict
  | ApprovalAlreadyDecided
  | ApprovalChanged
  | ApproverRefused
  | UnknownAlreadyResolved
  | RunArchived
  | RunAlreadySettled
  | ProbeRefused
  | WakeRefused
  | RetryRefused
  | TooManyAttempts
  | TooManyStreams
  | StoreUnavailable
  | OriginRefused;
export type ApiErrorTag = ApiError["_tag"];
