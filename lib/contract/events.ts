/**
 * What observers see: the live stream of a run and the tenant's event log that
 * the console follows. A versioned union; a kind this version does not know
 * decodes to `UnknownEvent` and is drawn as a neutral row. Events carry no
 * private evidence (DX-06), and values over 16 KiB are cut with a marker: the
 * whole value is behind the run's own routes.
 */
import * as Schema from "effect/Schema";
import * as SchemaTransformation from "effect/SchemaTransformation";
import { ExposureSnapshot } from "./exposure.ts";
import {
  AgentId,
  ApprovalRequestId,
  DenialId,
  EpochMillis,
  RunId,
  Sequence,
  SubmissionId,
  TenantId,
  ThreadId,
  ToolCallId,
  UnknownId,
} from "./ids.ts";
import {
  Actor,
  AnsweredByCallAsText,
  ExhaustedBudget,
  FailureSummary,
  TokenUsage,
} from "./records.ts";
import {
  ExecutionClass,
  FailureHandling,
  FailureMode,
  ProbeFinding,
  RecoveryDecision,
  ResolutionKind,
  Risk,
} from "./status.ts";

const call = { turn: Schema.Int, callId: ToolCallId, toolName: Schema.String };

/** Stands in an event for a value whose JSON is longer than the event bound. */
export const CutValue = Schema.Struct({
  cut: Schema.Literal(true),
  originalBytes: Schema.Int,
  head: Schema.String,
});

const RunQueued = Schema.TaggedStruct("RunQueued", {
  submissionId: SubmissionId,
  title: Schema.String,
});
const RunStarted = Schema.TaggedStruct("RunStarted", {
  submissionId: SubmissionId,
  modelId: Schema.String,
});
const AttemptStarted = Schema.TaggedStruct("AttemptStarted", {
  attempt: Schema.Int,
  decision: RecoveryDecision,
  explanation: Schema.String,
});
/** An attempt ended without a record of its own: the next one is due at `dueAt`, by itself. */
const AttemptPutOff = Schema.TaggedStruct("AttemptPutOff", {
  reason: Schema.String,
  dueAt: EpochMillis,
});
/** An operator made the next attempt due at once. */
const RunWoken = Schema.TaggedStruct("RunWoken", { actor: Actor });
const ModelRequested = Schema.TaggedStruct("ModelRequested", { turn: Schema.Int });
const ModelText = Schema.TaggedStruct("ModelText", { turn: Schema.Int, text: Schema.String });
const TurnRecorded = Schema.TaggedStruct("TurnRecorded", {
  turn: Schema.Int,
  text: Schema.String,
  callCount: Schema.Int,
  exposure: ExposureSnapshot,
  finishReason: Schema.String,
  usage: TokenUsage,
  startedAt: EpochMillis,
});
const ToolCallDeclared = Schema.TaggedStruct("ToolCallDeclared", {
  ...call,
  index: Schema.Int,
  parameters: Schema.Json,
  providerExecuted: Schema.Boolean,
  executionClass: ExecutionClass,
  /** Set for a call inside another one; `index` is then its sequence index (CM-02). */
  parentCallId: Schema.optionalKey(ToolCallId),
});
const ToolCallStarted = Schema.TaggedStruct("ToolCallStarted", {
  ...call,
  attempt: Schema.Int,
  parentCallId: Schema.optionalKey(ToolCallId),
});
/** A named step of a call's own work has given its result, which every later attempt is given again (DU-18). */
const StepRecorded = Schema.TaggedStruct("StepRecorded", {
  ...call,
  name: Schema.String,
  result: Schema.Json,
  attempt: Schema.Int,
});
const ToolProgress = Schema.TaggedStruct("ToolProgress", {
  ...call,
  index: Schema.Int,
  value: Schema.Json,
  dropped: Schema.Int,
});
const ToolCallSucceeded = Schema.TaggedStruct("ToolCallSucceeded", {
  ...call,
  result: Schema.Json,
  toolSelection: Schema.optionalKey(Schema.Array(Schema.String)),
  originalBytes: Schema.Int,
  /** Set where the result is a bounded copy: UTF-8 bytes of its text that are kept beside the record. */
  keptBytes: Schema.optionalKey(Schema.Int),
});
const ToolCallFailed = Schema.TaggedStruct("ToolCallFailed", {
  ...call,
  failureMode: Schema.optionalKey(FailureMode),
  failureHandling: Schema.optionalKey(FailureHandling),
  rejected: Schema.Boolean,
  result: Schema.optionalKey(Schema.Json),
  /** Both set where the result is a bounded copy of a larger one. */
  originalBytes: Schema.optionalKey(Schema.Int),
  keptBytes: Schema.optionalKey(Schema.Int),
  failure: Schema.optionalKey(FailureSummary),
});
const ToolCallDenied = Schema.TaggedStruct("ToolCallDenied", {
  ...call,
  by: Schema.Literals(["person", "policy", "expiry"]),
  reason: Schema.String,
  denialId: Schema.optionalKey(DenialId),
});
const ToolCallNotExecuted = Schema.TaggedStruct("ToolCallNotExecuted", {
  ...call,
  reason: Schema.String,
});
const ToolCallUnknown = Schema.TaggedStruct("ToolCallUnknown", {
  ...call,
  unknownId: UnknownId,
  detail: Schema.String,
});
const UnknownProbed = Schema.TaggedStruct("UnknownProbed", {
  ...call,
  unknownId: UnknownId,
  finding: ProbeFinding,
  detail: Schema.String,
  actor: Actor,
});
const UnknownResolved = Schema.TaggedStruct("UnknownResolved", {
  ...call,
  unknownId: UnknownId,
  resolution: ResolutionKind,
  actor: Actor,
});
const ApprovalRequested = Schema.TaggedStruct("ApprovalRequested", {
  ...call,
  requestId: ApprovalRequestId,
  summary: Schema.String,
  risk: Risk,
  expiresAt: Schema.NullOr(EpochMillis),
});
const ApprovalDecided = Schema.TaggedStruct("ApprovalDecided", {
  ...call,
  requestId: ApprovalRequestId,
  decision: Schema.Literals(["approved", "denied", "expired", "withdrawn"]),
  actor: Actor,
  reason: Schema.String,
});
/** One of several people who must approve has; the request stays pending. */
const ApprovalCounted = Schema.TaggedStruct("ApprovalCounted", {
  ...call,
  requestId: ApprovalRequestId,
  actor: Actor,
  missing: Schema.Int,
});
/** Somebody opened a pending request; they are taken to read it until `until`. */
const ApprovalLookedAt = Schema.TaggedStruct("ApprovalLookedAt", {
  ...call,
  requestId: ApprovalRequestId,
  actor: Actor,
  until: EpochMillis,
});
const ApprovalExtended = Schema.TaggedStruct("ApprovalExtended", {
  ...call,
  requestId: ApprovalRequestId,
  expiresAt: EpochMillis,
  actor: Actor,
});
/** A decision reached the run: the third light of the delivery tracker. */
const ApprovalDelivered = Schema.TaggedStruct("ApprovalDelivered", {
  ...call,
  requestId: ApprovalRequestId,
});
const AuthorizationCheckFailed = Schema.TaggedStruct("AuthorizationCheckFailed", {
  ...call,
  message: Schema.String,
  denialId: DenialId,
});
const DenialAcknowledged = Schema.TaggedStruct("DenialAcknowledged", {
  denialId: DenialId,
  actor: Actor,
});
const AbortRequested = Schema.TaggedStruct("AbortRequested", {
  actor: Actor,
  reason: Schema.String,
});
const RunSuspended = Schema.TaggedStruct("RunSuspended", {
  waitingFor: Schema.Literals(["approval", "unknown"]),
});
const RunCompleted = Schema.TaggedStruct("RunCompleted", {
  output: Schema.Json,
  finishReason: Schema.String,
  exhausted: Schema.optionalKey(ExhaustedBudget),
  callAsText: Schema.optionalKey(AnsweredByCallAsText),
});
const RunFailed = Schema.TaggedStruct("RunFailed", {
  failure: FailureSummary,
  finishReason: Schema.String,
  exhausted: Schema.optionalKey(ExhaustedBudget),
  callAsText: Schema.optionalKey(AnsweredByCallAsText),
});
const RunAborted = Schema.TaggedStruct("RunAborted", { reason: Schema.String });
/** An ephemeral run whose caller interrupted it; a durable run is taken up again instead (DU-17). */
const RunInterrupted = Schema.TaggedStruct("RunInterrupted", {});
/** A kind written by a later version; shown neutrally, never dropped. */
const UnknownEvent = Schema.TaggedStruct("UnknownEvent", { kind: Schema.String });

const kinds = [
  RunQueued,
  RunStarted,
  AttemptStarted,
  AttemptPutOff,
  RunWoken,
  ModelRequested,
  ModelText,
  TurnRecorded,
  ToolCallDeclared,
  ToolCallStarted,
  StepRecorded,
  ToolProgress,
  ToolCallSucceeded,
  ToolCallFailed,
  ToolCallDenied,
  ToolCallNotExecuted,
  ToolCallUnknown,
  UnknownProbed,
  UnknownResolved,
  ApprovalRequested,
  ApprovalDecided,
  ApprovalCounted,
  ApprovalLookedAt,
  ApprovalExtended,
  ApprovalDelivered,
  AuthorizationCheckFailed,
  DenialAcknowledged,
  AbortRequested,
  RunSuspended,
  RunCompleted,
  RunFailed,
  RunAborted,
  RunInterrupted,
  UnknownEvent,
] as const;

/** The kinds and shapes of this version: what is written. */
export const RunEvent = Schema.Union(kinds);
export type RunEvent = typeof RunEvent.Type;
export type RunEventKind = RunEvent["_tag"];
export type EventOf<Kind extends RunEventKind> = Extract<RunEvent, { readonly _tag: Kind }>;

/** Longest name of a kind that is kept of an event this version does not know. */
const maxKindLength = 128;

/** Anything that at least names its kind, as `UnknownEvent`. */
const NewerEvent = Schema.Struct({ _tag: Schema.String }).pipe(
  Schema.decodeTo(
    Schema.toType(UnknownEvent),
    SchemaTransformation.transform({
      decode: ({ _tag }) => ({
        _tag: "UnknownEvent" as const,
        kind: _tag.slice(0, maxKindLength),
      }),
      encode: ({ _tag }) => ({ _tag }),
    }),
  ),
);

/** What is read: a kind or shape that this version does not know is an `UnknownEvent`, never a failure. */
export const ReadableEvent = Schema.Union([...kinds, NewerEvent]);

/** An event at its place in the tenant's log; `sequence` has no gaps and no late arrivals. */
export const LoggedEvent = Schema.Struct({
  version: Schema.Literal(1),
  sequence: Sequence,
  tenantId: TenantId,
  at: EpochMillis,
  agentId: AgentId,
  threadId: ThreadId,
  runId: RunId,
  event: ReadableEvent,
});
export type LoggedEvent = typeof LoggedEvent.Type;
