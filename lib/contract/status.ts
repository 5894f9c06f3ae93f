/** The closed sets that every layer, from SQL to screen, spells the same way. */
import * as Schema from "effect/Schema";

/** How recovery treats a call whose process was lost (DU-05). */
export const ExecutionClass = Schema.Literals(["readonly", "idempotent", "uncertain"]);
export type ExecutionClass = typeof ExecutionClass.Type;

/** What a declared failure does (F-01, F-02). */
export const FailureMode = Schema.Literals(["error", "return"]);
export type FailureMode = typeof FailureMode.Type;

/** The route a failure really took (F-10); absence means unknown. */
export const FailureHandling = Schema.Literals([
  "propagated",
  "returned-to-model",
  "returned-to-caller",
]);
export type FailureHandling = typeof FailureHandling.Type;

/** Eleven states of a tool call that are never confused; only `succeeded` is green (C094). */
export const CallState = Schema.Literals([
  "queued",
  "waiting",
  "running",
  "succeeded",
  "failed",
  "denied-by-person",
  "denied-by-policy",
  "expired",
  "aborted",
  "unknown",
  "not-executed",
]);
export type CallState = typeof CallState.Type;

/**
 * Where a run is. `waiting` = a person must decide an approval; `unknown` = a
 * person must resolve an effect in doubt; the last three are terminal.
 */
export const RunState = Schema.Literals([
  "queued",
  "running",
  "waiting",
  "unknown",
  "completed",
  "failed",
  "aborted",
]);
export type RunState = typeof RunState.Type;

export const RunOutcome = Schema.Literals(["completed", "failed", "aborted"]);
export type RunOutcome = typeof RunOutcome.Type;

export const Risk = Schema.Literals(["low", "medium", "high", "critical"]);
export type Risk = typeof Risk.Type;

/** `withdrawn` = the run ended before anyone decided (C011). */
export const ApprovalState = Schema.Literals([
  "pending",
  "approved",
  "denied",
  "expired",
  "withdrawn",
]);
export type ApprovalState = typeof ApprovalState.Type;

/** The four ways to settle an effect in doubt (DU-07). */
export const ResolutionKind = Schema.Literals([
  "completed-with-result",
  "never-happened",
  "safe-to-retry",
  "abort-submission",
]);
export type ResolutionKind = typeof ResolutionKind.Type;

/** What a tool's probe found out about an effect in doubt; only the first two are the destination's word. */
export const ProbeFinding = Schema.Literals([
  "found",
  "not-found",
  "inconclusive",
  "failed",
  "timed-out",
]);
export type ProbeFinding = typeof ProbeFinding.Type;

/** What an operator may do; `admin` may do everything, `viewer` only look. */
export const OperatorRole = Schema.Literals(["viewer", "decider", "operator", "admin"]);
export type OperatorRole = typeof OperatorRole.Type;

/** Why recovery chose what it chose; one entry per row of the crash table. */
export const RecoveryDecision = Schema.Literals([
  "first-attempt",
  "ask-model-again",
  "continue-declared-batch",
  "restore-approval-wait",
  "apply-decisions",
  "rerun-idempotent",
  "record-unknown",
  "restore-unknown-wait",
  "apply-resolutions",
  "next-turn",
  "settle-recorded-outcome",
  "apply-abort",
]);
export type RecoveryDecision = typeof RecoveryDecision.Type;
