/**
 * Journal records: the facts of a run, in the order in which they became true.
 * They are the only truth; every table the console reads is a projection that
 * can be rebuilt from them. Records are append-only and versioned: a field is
 * only ever added as optional, and a kind is never removed.
 */
import * as Schema from "effect/Schema";
import { ApprovalRequestContent } from "./approval.ts";
import { ExposureSnapshot } from "./exposure.ts";
import {
  AgentId,
  ApprovalRequestId,
  DenialId,
  DiagnosticId,
  Digest,
  Epoch,
  EpochMillis,
  ProbeId,
  ResultId,
  RunId,
  SubmissionId,
  ToolCallId,
  UnknownId,
} from "./ids.ts";
import {
  ExecutionClass,
  FailureHandling,
  FailureMode,
  ProbeFinding,
  RecoveryDecision,
  ResolutionKind,
  RunOutcome,
} from "./status.ts";

const run = { runId: RunId };
const call = { ...run, turn: Schema.Int, callId: ToolCallId, toolName: Schema.String };

/** Who made a decision: a person by id and name, a rule, or the clock. */
export const Actor = Schema.Struct({
  kind: Schema.Literals(["operator", "policy", "system"]),
  id: Schema.String,
  name: Schema.String,
});
export type Actor = typeof Actor.Type;

/** One tool call as the model declared it, with the arguments exactly as received. */
export const DeclaredCall = Schema.Struct({
  callId: ToolCallId,
  index: Schema.Int,
  toolName: Schema.String,
  /** Encoded arguments in the shape the model wrote (the wire form). */
  parameters: Schema.Json,
  /** Encoded arguments in the tool's own shape, defaults filled in; what the handler is started with. */
  effectiveParameters: Schema.optionalKey(Schema.Json),
  parametersDigest: Digest,
  providerExecuted: Schema.Boolean,
  executionClass: ExecutionClass,
  failureMode: Schema.optionalKey(FailureMode),
  /** Digest of the tool's contract when the call was declared (DU-19). */
  toolDigest: Digest,
  needsApproval: Schema.Boolean,
  /** Set for a call that a program made inside this other call; `index` is then its sequence index (CM-02). */
  parentCallId: Schema.optionalKey(ToolCallId),
});
export type DeclaredCall = typeof DeclaredCall.Type;

/** Durable proof that a call's arguments were refused, tied to those arguments (F-08). */
export const ParameterRejection = Schema.Struct({
  callId: ToolCallId,
  parameters: Schema.Json,
  encodedError: Schema.Json,
});
export type ParameterRejection = typeof ParameterRejection.Type;

/** Tokens of one model response; `null` where the provider did not say. */
export const TokenUsage = Schema.Struct({
  inputTokens: Schema.NullOr(Schema.Int),
  outputTokens: Schema.NullOr(Schema.Int),
});
export type TokenUsage = typeof TokenUsage.Type;

/** A typed failure as the outside sees it: a tag and a safe sentence (DX-07). */
export const FailureSummary = Schema.Struct({
  errorTag: Schema.String,
  message: Schema.String,
  diagnosticId: Schema.optionalKey(DiagnosticId),
});
export type FailureSummary = typeof FailureSummary.Type;

export const RunOpened = Schema.TaggedStruct("RunOpened", {
  ...run,
  submissionId: SubmissionId,
  agentId: AgentId,
  /** Digest of the agent definition that the run was opened with. */
  definitionDigest: Digest,
  modelId: Schema.String,
  input: Schema.Json,
  requester: Actor,
});

export const AttemptStarted = Schema.TaggedStruct("AttemptStarted", {
  ...run,
  attempt: Schema.Int,
  epoch: Epoch,
  decision: RecoveryDecision,
  explanation: Schema.String,
});

export const TurnRecorded = Schema.TaggedStruct("TurnRecorded", {
  ...run,
  turn: Schema.Int,
  /** Encoded assistant message content (Effect AI `Prompt` parts), replayed into later prompts. */
  response: Schema.Array(Schema.Json),
  text: Schema.String,
  calls: Schema.Array(DeclaredCall),
  rejections: Schema.Array(ParameterRejection),
  exposure: ExposureSnapshot,
  finishReason: Schema.String,
  usage: TokenUsage,
  /** Set when this turn was the constrained last answer, and which budget asked for it (F-14). */
  finalAnswerFor: Schema.optionalKey(Schema.Literals(["turns", "toolCalls", "duration"])),
  /** Preflight refused the whole batch; nothing of it may start (B-02, F-07). */
  refusal: Schema.optionalKey(FailureSummary),
  startedAt: EpochMillis,
});

export const ApprovalRequested = Schema.TaggedStruct("ApprovalRequested", {
  ...call,
  requestId: ApprovalRequestId,
  request: ApprovalRequestContent,
});

export const ApprovalDecided = Schema.TaggedStruct("ApprovalDecided", {
  ...call,
  requestId: ApprovalRequestId,
  decision: Schema.Literals(["approved", "denied", "expired"]),
  /** Who gave the last answer that was needed. */
  actor: Actor,
  /** Everybody who approved, where more than one person must. */
  approvers: Schema.optionalKey(Schema.Array(Actor)),
  reason: Schema.String,
  /** Other arguments that a denial suggests to the model, in the tool's own encoding. */
  suggestion: Schema.optionalKey(Schema.Json),
  parametersDigest: Digest,
  decidedAt: EpochMillis,
});

export const AuthorizationDenied = Schema.TaggedStruct("AuthorizationDenied", {
  ...call,
  denialId: DenialId,
  /** Safe for the model and for logs; the private evidence is behind `diagnosticId` (Z-04). */
  reason: Schema.String,
  diagnosticId: Schema.optionalKey(DiagnosticId),
});

export const AuthorizationCheckFailed = Schema.TaggedStruct("AuthorizationCheckFailed", {
  ...call,
  denialId: DenialId,
  message: Schema.String,
  diagnosticId: Schema.optionalKey(DiagnosticId),
});

/** The promise before an effect: from here on the call may have happened (DU-01). */
export const ToolCallPrepared = Schema.TaggedStruct("ToolCallPrepared", {
  ...call,
  executionClass: ExecutionClass,
  parametersDigest: Digest,
  idempotencyKey: Schema.String,
  attempt: Schema.Int,
  /** Set for a call inside another one. */
  parentCallId: Schema.optionalKey(ToolCallId),
});

/**
 * A program asked for a call inside a running one (CM-01). `declared` names its
 * parent and its place; what came of it follows under its own call id.
 */
export const InnerCallDeclared = Schema.TaggedStruct("InnerCallDeclared", {
  ...run,
  turn: Schema.Int,
  declared: DeclaredCall,
});

/** A named step inside one call succeeded; it is not run again for this call (DU-18). */
export const StepRecorded = Schema.TaggedStruct("StepRecorded", {
  ...call,
  name: Schema.String,
  /** Encoded by the step's own schema. */
  result: Schema.Json,
  attempt: Schema.Int,
});

/**
 * The whole canonical JSON text of a result whose record has a bounded copy. It is
 * stored beside the record, in the same append; the digest here is what it must match.
 */
export const KeptResult = Schema.Struct({
  resultId: ResultId,
  /** UTF-8 bytes that are kept: fewer than `originalBytes` where only the beginning is. */
  bytes: Schema.Int,
  /** SHA-256 of the kept text. */
  digest: Digest,
});
export type KeptResult = typeof KeptResult.Type;

/** How a call ended; `kind` tells a failure from a denial from a rejection. */
export const ToolCallSettled = Schema.TaggedStruct("ToolCallSettled", {
  ...call,
  kind: Schema.Literals([
    "succeeded",
    "failed",
    "rejected",
    "denied-by-person",
    "expired",
    "not-executed",
  ]),
  /** What the model sees, after bounding (T-18). */
  result: Schema.Json,
  isFailure: Schema.Boolean,
  failureMode: Schema.optionalKey(FailureMode),
  failureHandling: Schema.optionalKey(FailureHandling),
  failure: Schema.optionalKey(FailureSummary),
  /** Names a discovery tool selected, taken before the result was bounded. */
  selection: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The call is the run's answer: its result is the output once the batch is complete. */
  completes: Schema.optionalKey(Schema.Literal(true)),
  /** UTF-8 bytes of the encoded result before bounding. */
  originalBytes: Schema.Int,
  /** Set where `result` is a bounded copy and its whole text is kept (R52). */
  kept: Schema.optionalKey(KeptResult),
  source: Schema.Literals([
    "handler",
    "provider",
    "preflight",
    "approval",
    "resolution",
    "reconciler",
    "probe",
    "drift",
  ]),
  startedAt: Schema.optionalKey(EpochMillis),
  endedAt: EpochMillis,
});

export const ToolCallUnknown = Schema.TaggedStruct("ToolCallUnknown", {
  ...call,
  unknownId: UnknownId,
  reason: Schema.Literals([
    "process-lost",
    "interrupted",
    "handler-unsure",
    "handler-defect",
    "run-ended",
  ]),
  detail: Schema.String,
  /** True when the run settles without an answer: listed for operators, nothing waits for it (DU-09). */
  afterSettlement: Schema.Boolean,
});

/** A destination was asked about an effect in doubt: evidence, which alone settles nothing. */
export const UnknownProbed = Schema.TaggedStruct("UnknownProbed", {
  ...call,
  unknownId: UnknownId,
  probeId: ProbeId,
  finding: ProbeFinding,
  detail: Schema.String,
  /** What the destination gave as the call's result. */
  result: Schema.optionalKey(Schema.Json),
  isFailure: Schema.optionalKey(Schema.Boolean),
  /** The tool's declared rule made the answer a resolution, whose record follows. */
  settles: Schema.Boolean,
  actor: Actor,
  askedAt: EpochMillis,
  answeredAt: EpochMillis,
});

export const UnknownResolved = Schema.TaggedStruct("UnknownResolved", {
  ...call,
  unknownId: UnknownId,
  resolution: ResolutionKind,
  result: Schema.optionalKey(Schema.Json),
  isFailure: Schema.optionalKey(Schema.Boolean),
  actor: Actor,
  reason: Schema.String,
  evidence: Schema.String,
  resolvedAt: EpochMillis,
});

export const AbortRequested = Schema.TaggedStruct("AbortRequested", {
  ...run,
  actor: Actor,
  reason: Schema.String,
  requestedAt: EpochMillis,
});

/** The attempt let go; nothing in memory waits. */
export const RunSuspended = Schema.TaggedStruct("RunSuspended", {
  ...run,
  attempt: Schema.Int,
  waitingFor: Schema.Literals(["approval", "unknown"]),
  /** Time this attempt really worked; waits for people are not counted (DU-16). */
  activeMillis: Schema.Int,
});

/** The budget whose end ended the run. */
export const ExhaustedBudget = Schema.Literals(["turns", "toolCalls", "duration", "failures"]);

/** The run's answer was a call that the endpoint gave as text; nothing of it was started, and the evidence is kept. */
export const AnsweredByCallAsText = Schema.Struct({
  toolName: Schema.String,
  diagnosticId: DiagnosticId,
});
export type AnsweredByCallAsText = typeof AnsweredByCallAsText.Type;

export const RunSettled = Schema.TaggedStruct("RunSettled", {
  ...run,
  submissionId: SubmissionId,
  outcome: RunOutcome,
  output: Schema.optionalKey(Schema.Json),
  failure: Schema.optionalKey(FailureSummary),
  finishReason: Schema.Literals([
    "answered",
    "budget-exhausted",
    "tool-failure",
    "refused",
    "denied",
    "check-failed",
    "approval-denied",
    "model-failure",
    "invalid-output",
    "defect",
    "aborted",
    "poisoned",
    "corrupt-evidence",
  ]),
  exhausted: Schema.optionalKey(ExhaustedBudget),
  callAsText: Schema.optionalKey(AnsweredByCallAsText),
});

export const RunRecord = Schema.Union([
  RunOpened,
  AttemptStarted,
  TurnRecorded,
  ApprovalRequested,
  ApprovalDecided,
  AuthorizationDenied,
  AuthorizationCheckFailed,
  InnerCallDeclared,
  ToolCallPrepared,
  StepRecorded,
  ToolCallSettled,
  ToolCallUnknown,
  UnknownProbed,
  UnknownResolved,
  AbortRequested,
  RunSuspended,
  RunSettled,
]);
export type RunRecord = typeof RunRecord.Type;
export type RunRecordKind = RunRecord["_tag"];

/** The record of one kind. */
export type RecordOf<Kind extends RunRecordKind> = Extract<RunRecord, { readonly _tag: Kind }>;

/** A record where it stands in its thread's chain (PG-02). */
export const StoredRecord = Schema.Struct({
  sequence: Schema.Int,
  epoch: Epoch,
  recordedAt: EpochMillis,
  digest: Digest,
  previousDigest: Digest,
  record: RunRecord,
});
export type StoredRecord = typeof StoredRecord.Type;
