/** Stage 6: the record that a call's outcome becomes (DU-03, T-18, F-10). Pure. */
import { measureResult } from "#lib/contract/json/bounded-result.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { ToolCallId, RunId } from "#lib/contract/ids.ts";
import type { FailureSummary, RecordOf } from "#lib/contract/records.ts";
import type { FailureMode } from "#lib/contract/status.ts";

type Settled = RecordOf<"ToolCallSettled">;

/** What every settlement of one call has in common. */
export interface SettlementBase {
  readonly runId: RunId;
  readonly turn: number;
  readonly callId: ToolCallId;
  readonly toolName: string;
  readonly failureMode: FailureMode | undefined;
  readonly resultBytes: number;
  readonly endedAt: number;
  readonly startedAt?: number;
  /** A program made the call: its failures go back to the program (CM-07). */
  readonly isInner?: boolean;
  /** A success of it is the run's answer, which is kept whole as outputs are. */
  readonly completes?: boolean;
}

/** Most UTF-8 bytes of an answer: what one stored value may have (PG-06). */
const maxAnswerBytes = 1_048_576;

const returnedTo = (call: SettlementBase) =>
  call.isInner === true ? ("returned-to-caller" as const) : ("returned-to-model" as const);

/** Stands behind what is added to it: V8 makes an object that begins with a spread by a slow way, a key at a time. */
const base = (call: SettlementBase, result: Json, maxBytes = call.resultBytes) => ({
  _tag: "ToolCallSettled" as const,
  runId: call.runId,
  turn: call.turn,
  callId: call.callId,
  toolName: call.toolName,
  ...measureResult(result, maxBytes),
  endedAt: call.endedAt,
  ...(call.startedAt === undefined ? {} : { startedAt: call.startedAt }),
  ...(call.failureMode === undefined ? {} : { failureMode: call.failureMode }),
});

/** A success, kept whole where it is the answer. */
const success = (call: SettlementBase, result: Json) =>
  call.completes === true
    ? { completes: true as const, ...base(call, result, maxAnswerBytes) }
    : base(call, result);

/** The handler's success; the selection was taken before the result is bounded here. */
export const settledSuccess = (
  call: SettlementBase,
  result: Json,
  selection: ReadonlyArray<string> | undefined,
): Settled => ({
  kind: "succeeded",
  isFailure: false,
  source: "handler",
  ...(selection === undefined ? {} : { selection }),
  ...success(call, result),
});

/** A declared failure that whoever called sees: the model or a program (F-02, CM-07). */
export const settledReturned = (
  call: SettlementBase,
  result: Json,
  failure: FailureSummary,
): Settled => ({
  kind: "failed",
  isFailure: true,
  source: "handler",
  failureHandling: returnedTo(call),
  failure,
  ...base(call, result),
});

/** An inner call that was refused before its handler; the program is told in the words of `failure` (CM-03). */
export const settledRefused = (
  call: SettlementBase,
  kind: "rejected" | "not-executed",
  error: Json,
  failure: FailureSummary,
): Settled => ({
  kind,
  isFailure: true,
  source: "preflight",
  failureHandling: returnedTo(call),
  failure,
  // The error's own schema bounds it; cut, it could not be given again to a program that runs again.
  ...base({ ...call, resultBytes: Number.MAX_SAFE_INTEGER }, error),
});

/** A failure that ends the run; the model sees nothing of it (F-01, F-04). */
export const settledPropagated = (call: SettlementBase, failure: FailureSummary): Settled => ({
  kind: "failed",
  isFailure: true,
  source: "handler",
  failureHandling: "propagated",
  failure,
  ...base(call, null),
});

/** Parameters that were refused; no handler, no approval, no authorization (F-06). */
export const settledRejection = (call: SettlementBase, encodedError: Json): Settled => ({
  kind: "rejected",
  isFailure: true,
  source: "preflight",
  failureHandling: "returned-to-model",
  failure: {
    errorTag: "ToolParameterValidationError",
    message: `The arguments of ${call.toolName} are invalid.`,
  },
  ...base(call, encodedError),
});

/** A tool that its request did not offer: the model is told so, and nothing of its batch was started. */
export const settledUnoffered = (call: SettlementBase, result: Json): Settled => ({
  kind: "rejected",
  isFailure: true,
  source: "preflight",
  failureHandling: "returned-to-model",
  failure: {
    errorTag: "AgentToolCallRejected",
    message: `The model called ${call.toolName}, which its request did not offer.`,
  },
  ...base(call, result),
});

/** A person's denial or an expiry, each in its own words. */
export const settledUnapproved = (
  call: SettlementBase,
  kind: "denied-by-person" | "expired",
  result: Json,
): Settled => ({
  kind,
  isFailure: true,
  source: "approval",
  ...base(call, result),
});

/** Declared, but never started: a budget, a changed tool (F-14, DU-19). */
export const settledNotExecuted = (
  call: SettlementBase,
  source: "preflight" | "drift",
  reason: string,
): Settled => ({
  kind: "not-executed",
  isFailure: true,
  source,
  ...base(call, { _tag: "ToolCallNotExecuted", reason }),
});

/** An operator's, reconciler's or probe rule's word on an effect in doubt (DU-06, DU-08). */
export const settledResolved = (
  call: SettlementBase,
  source: "resolution" | "reconciler" | "probe",
  result: Json,
  isFailure: boolean,
): Settled => ({
  ...(isFailure ? base(call, result) : success(call, result)),
  kind: isFailure ? "failed" : "succeeded",
  isFailure,
  source,
  ...(isFailure
    ? {
        failureHandling: returnedTo(call),
        failure: {
          errorTag: "ResolvedFailure",
          message: `The call of ${call.toolName} was resolved as failed.`,
        },
      }
    : {}),
});
