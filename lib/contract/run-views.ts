/** Runs, as lists and their own page show them. Lists never carry bodies; a body is behind its own route (C079). */
import * as Schema from "effect/Schema";
import { RunBudgets } from "./agent-views.ts";
import { ExposureSnapshot } from "./exposure.ts";
import {
  AgentId,
  ApprovalRequestId,
  Digest,
  EpochMillis,
  RunId,
  Sequence,
  SubmissionId,
  ThreadId,
  ToolCallId,
  UnknownId,
} from "./ids.ts";
import { Actor, AnsweredByCallAsText, FailureSummary, TokenUsage } from "./records.ts";
import {
  CallState,
  ExecutionClass,
  FailureHandling,
  FailureMode,
  RecoveryDecision,
  ResolutionKind,
  RunState,
} from "./status.ts";

export const RunListItem = Schema.Struct({
  runId: RunId,
  threadId: ThreadId,
  submissionId: SubmissionId,
  agentId: AgentId,
  state: RunState,
  title: Schema.String,
  failureTag: Schema.NullOr(Schema.String),
  requester: Schema.String,
  turns: Schema.Int,
  toolCalls: Schema.Int,
  pendingApprovals: Schema.Int,
  openUnknowns: Schema.Int,
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  createdAt: EpochMillis,
  startedAt: Schema.NullOr(EpochMillis),
  settledAt: Schema.NullOr(EpochMillis),
});
export type RunListItem = typeof RunListItem.Type;

/** A named step that a call's own work took; its result is given again to every later attempt (DU-18). */
export const StepView = Schema.Struct({
  name: Schema.String,
  result: Schema.Json,
  attempt: Schema.Int,
  recordedAt: EpochMillis,
});
export type StepView = typeof StepView.Type;

/** A doubt about what a call did, and how it ended: the last three are null while it is open. */
export const DoubtView = Schema.Struct({
  /** Until then the call may have run: nothing says when it stopped. */
  since: EpochMillis,
  resolution: Schema.NullOr(ResolutionKind),
  actor: Schema.NullOr(Actor),
  resolvedAt: Schema.NullOr(EpochMillis),
});
export type DoubtView = typeof DoubtView.Type;

const callFields = {
  turn: Schema.Int,
  index: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  state: CallState,
  executionClass: ExecutionClass,
  providerExecuted: Schema.Boolean,
  parameters: Schema.Json,
  effectiveParameters: Schema.NullOr(Schema.Json),
  parametersDigest: Digest,
  failureMode: Schema.NullOr(FailureMode),
  failureHandling: Schema.NullOr(FailureHandling),
  failure: Schema.NullOr(FailureSummary),
  result: Schema.NullOr(Schema.Json),
  hasResult: Schema.Boolean,
  isFailure: Schema.Boolean,
  originalBytes: Schema.NullOr(Schema.Int),
  /** Set where `result` is a bounded copy: UTF-8 bytes of its text that are kept. */
  keptBytes: Schema.optionalKey(Schema.Int),
  selection: Schema.NullOr(Schema.Array(Schema.String)),
  approvalRequestId: Schema.NullOr(ApprovalRequestId),
  unknownId: Schema.NullOr(UnknownId),
  /** Its handler broke while it ran, and as no promise stood before it no record says when it began. */
  broke: Schema.optionalKey(Schema.Literal(true)),
  /** The newest doubt about it; absent where there never was one. */
  doubt: Schema.optionalKey(DoubtView),
  idempotencyKey: Schema.NullOr(Schema.String),
  declaredAt: EpochMillis,
  requestedAt: Schema.NullOr(EpochMillis),
  decidedAt: Schema.NullOr(EpochMillis),
  startedAt: Schema.NullOr(EpochMillis),
  endedAt: Schema.NullOr(EpochMillis),
  /** In the order in which they were recorded; absent where there are none. */
  steps: Schema.optionalKey(Schema.Array(StepView)),
};

/** A call that a program made inside another; `index` is its number there, from 0 (CM-02). */
export const InnerCallView = Schema.Struct(callFields);
export type InnerCallView = typeof InnerCallView.Type;

export const ToolCallView = Schema.Struct({
  ...callFields,
  /** Calls that its program made, in the order in which they were made; absent where there are none. */
  inner: Schema.optionalKey(Schema.Array(InnerCallView)),
});
export type ToolCallView = typeof ToolCallView.Type;

export const TurnView = Schema.Struct({
  turn: Schema.Int,
  text: Schema.String,
  finishReason: Schema.String,
  usage: TokenUsage,
  exposure: ExposureSnapshot,
  calls: Schema.Array(ToolCallView),
  startedAt: EpochMillis,
  recordedAt: EpochMillis,
});
export type TurnView = typeof TurnView.Type;

export const AttemptView = Schema.Struct({
  attempt: Schema.Int,
  epoch: Schema.Int,
  decision: RecoveryDecision,
  explanation: Schema.String,
  startedAt: EpochMillis,
  suspendedFor: Schema.NullOr(Schema.Literals(["approval", "unknown"])),
});
export type AttemptView = typeof AttemptView.Type;

export const RunDetail = Schema.Struct({
  ...RunListItem.fields,
  input: Schema.Json,
  output: Schema.NullOr(Schema.Json),
  failure: Schema.NullOr(FailureSummary),
  finishReason: Schema.NullOr(Schema.String),
  exhausted: Schema.NullOr(Schema.String),
  callAsText: Schema.optionalKey(AnsweredByCallAsText),
  modelId: Schema.NullOr(Schema.String),
  abort: Schema.NullOr(Schema.Struct({ actor: Actor, reason: Schema.String, at: EpochMillis })),
  attempts: Schema.Array(AttemptView),
  /** The first turn, where it is not among `turnViews`: what the page shows before any other turn is read. */
  opening: Schema.Array(TurnView),
  /** The newest turns, in order; `earlier` counts what comes before them and is read ten turns at a time. */
  turnViews: Schema.Array(TurnView),
  earlier: Schema.Struct({ turns: Schema.Int, calls: Schema.Int }),
  policy: RunBudgets,
  asOf: Sequence,
  serverTime: EpochMillis,
});
export type RunDetail = typeof RunDetail.Type;

export const RecordView = Schema.Struct({
  sequence: Schema.Int,
  epoch: Schema.Int,
  kind: Schema.String,
  recordedAt: EpochMillis,
  digest: Digest,
  previousDigest: Digest,
  /** Canonical JSON text exactly as stored and digested. */
  body: Schema.String,
});
export type RecordView = typeof RecordView.Type;

export const ExposureExplanation = Schema.Struct({
  toolName: Schema.String,
  turn: Schema.Int,
  verdict: Schema.Literals([
    "offered",
    "hidden-by-visibility",
    "not-selected",
    "not-discovered",
    "over-budget",
    "unregistered",
  ]),
  explanation: Schema.String,
});
export type ExposureExplanation = typeof ExposureExplanation.Type;

export const ExposureView = Schema.Struct({
  turn: Schema.Int,
  exposure: ExposureSnapshot,
  added: Schema.Array(Schema.String),
  removed: Schema.Array(Schema.String),
});
export type ExposureView = typeof ExposureView.Type;
