/** What the API shows. Lists never carry bodies; a body is behind its own route (C079). */
import * as Schema from "effect/Schema";
import { ExposureSnapshot } from "./exposure.ts";
import {
  AgentId,
  ApprovalRequestId,
  DenialId,
  DiagnosticId,
  Digest,
  EpochMillis,
  OperatorId,
  ProbeId,
  RunId,
  Sequence,
  SubmissionId,
  TenantId,
  ThreadId,
  ToolCallId,
  UnknownId,
  WorkerId,
} from "./ids.ts";
import { Actor, AnsweredByCallAsText, FailureSummary, TokenUsage } from "./records.ts";
import {
  CallState,
  ExecutionClass,
  FailureHandling,
  FailureMode,
  OperatorRole,
  ProbeFinding,
  RecoveryDecision,
  ResolutionKind,
  Risk,
  RunState,
} from "./status.ts";

/** A page of a keyset list: `next` is an opaque cursor, absent on the last page. */
export const page = <Item extends Schema.Top>(item: Item) =>
  Schema.Struct({
    items: Schema.Array(item),
    next: Schema.optionalKey(Schema.String),
    /** Rows that match the filter, counted to at most 10,000; `capped` says the count stopped there. */
    count: Schema.Struct({ value: Schema.Int, capped: Schema.Boolean }),
    /** The event sequence that this answer reflects. */
    asOf: Sequence,
  });

export const Me = Schema.Struct({
  operatorId: OperatorId,
  tenantId: TenantId,
  name: Schema.String,
  email: Schema.String,
  role: OperatorRole,
  hasPassword: Schema.Boolean,
  /** The server's clock, so that countdowns never use the browser's. */
  serverTime: EpochMillis,
  /** True when no model key is configured and the rehearsal model answers. */
  rehearsal: Schema.Boolean,
  modelId: Schema.String,
});
export type Me = typeof Me.Type;

/** What the landing shell needs: the badges and the clock. */
export const Counts = Schema.Struct({
  pendingApprovals: Schema.Int,
  openUnknowns: Schema.Int,
  openDenials: Schema.Int,
  activeRuns: Schema.Int,
  asOf: Sequence,
  serverTime: EpochMillis,
});
export type Counts = typeof Counts.Type;

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
  policy: Schema.Struct({
    maxTurns: Schema.Int,
    maxToolCalls: Schema.Int,
    maxDurationMillis: Schema.Int,
    toolConcurrency: Schema.Int,
  }),
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

export const UnknownListItem = Schema.Struct({
  unknownId: UnknownId,
  runId: RunId,
  agentId: AgentId,
  threadId: ThreadId,
  runTitle: Schema.String,
  turn: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  reason: Schema.String,
  state: Schema.Literals(["open", "resolved"]),
  afterSettlement: Schema.Boolean,
  preparedAt: EpochMillis,
  unknownAt: EpochMillis,
  resolvedAt: Schema.NullOr(EpochMillis),
  resolvedBy: Schema.NullOr(Schema.String),
});
export type UnknownListItem = typeof UnknownListItem.Type;

/** One question to a destination; the last five are null while it has not answered. */
export const ProbeView = Schema.Struct({
  probeId: ProbeId,
  actor: Actor,
  askedAt: EpochMillis,
  /** The tool's declared rule made this answer a resolution. */
  settles: Schema.Boolean,
  answeredAt: Schema.NullOr(EpochMillis),
  finding: Schema.NullOr(ProbeFinding),
  detail: Schema.NullOr(Schema.String),
  result: Schema.NullOr(Schema.Json),
  isFailure: Schema.NullOr(Schema.Boolean),
});
export type ProbeView = typeof ProbeView.Type;

/** What is known of one stage of an effect, and how. */
export const EffectStage = Schema.Struct({
  known: Schema.Literals(["yes", "no", "not-known"]),
  why: Schema.String,
});
export type EffectStage = typeof EffectStage.Type;

export const UnknownDetail = Schema.Struct({
  ...UnknownListItem.fields,
  parameters: Schema.Json,
  parametersDigest: Digest,
  idempotencyKey: Schema.String,
  attempt: Schema.Int,
  executionClass: ExecutionClass,
  detail: Schema.String,
  /** Whether the request left and whether the destination acted, from the evidence at hand. */
  stages: Schema.Struct({ sent: EffectStage, answered: EffectStage }),
  /** What the tool's probe would settle, in plain words; null for a tool without a probe. */
  probeRule: Schema.NullOr(Schema.String),
  /** Newest first, at most 20. */
  probes: Schema.Array(ProbeView),
  resultSchema: Schema.Json,
  failureSchema: Schema.NullOr(Schema.Json),
  resolution: Schema.NullOr(
    Schema.Struct({
      kind: ResolutionKind,
      actor: Actor,
      reason: Schema.String,
      evidence: Schema.String,
      result: Schema.NullOr(Schema.Json),
    }),
  ),
  serverTime: EpochMillis,
});
export type UnknownDetail = typeof UnknownDetail.Type;

export const DenialListItem = Schema.Struct({
  denialId: DenialId,
  kind: Schema.Literals(["denial", "check-error"]),
  runId: RunId,
  agentId: AgentId,
  threadId: ThreadId,
  runTitle: Schema.String,
  turn: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  reason: Schema.String,
  diagnosticId: Schema.NullOr(DiagnosticId),
  deniedAt: EpochMillis,
  acknowledgedAt: Schema.NullOr(EpochMillis),
  acknowledgedBy: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String),
});
export type DenialListItem = typeof DenialListItem.Type;

export const DiagnosticView = Schema.Struct({
  diagnosticId: DiagnosticId,
  fingerprint: Schema.String,
  runId: Schema.NullOr(RunId),
  toolName: Schema.NullOr(Schema.String),
  callId: Schema.NullOr(ToolCallId),
  capturedAt: EpochMillis,
  title: Schema.String,
  /** Encoded `FailureDiagnostic` with its omission and truncation markers as captured. */
  diagnostic: Schema.Json,
});
export type DiagnosticView = typeof DiagnosticView.Type;

export const ObligationView = Schema.Struct({
  submissionId: SubmissionId,
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  title: Schema.String,
  /** `held`: since the database was restored from a backup; only a person starts it (`after-restore`). */
  blocker: Schema.Literals([
    "approval",
    "unknown",
    "child",
    "held",
    "ready-aged",
    "running-aged",
    "none",
  ]),
  severity: Schema.Literals(["ok", "aging", "overdue"]),
  /** What recovery would do next, in plain words. */
  explanation: Schema.String,
  since: EpochMillis,
  attempts: Schema.Int,
  /** When the next attempt is due; null when it is due already or no clock starts it. */
  dueAt: Schema.NullOr(EpochMillis),
});
export type ObligationView = typeof ObligationView.Type;

/** Why a run is where it is, what happens next and when, and what each attempt decided (OP-12). */
export const RunExplanation = Schema.Struct({
  runId: RunId,
  state: RunState,
  /** What holds it up. */
  now: Schema.String,
  /** What happens next, and what starts it. */
  next: Schema.String,
  /** When the next attempt is due; null when no clock starts it. */
  nextAt: Schema.NullOr(EpochMillis),
  /** Attempts in a row that ended without progress, and how many end the run. */
  lostAttempts: Schema.Int,
  maxLostAttempts: Schema.Int,
  /** Each recovery decision as it was recorded, and what such a decision means; oldest first, at most 200. */
  decisions: Schema.Array(Schema.Struct({ ...AttemptView.fields, meaning: Schema.String })),
  /** Which commands would do something, each with what it would do or why not. */
  wake: Schema.Struct({ possible: Schema.Boolean, effect: Schema.String }),
  retry: Schema.Struct({ possible: Schema.Boolean, effect: Schema.String }),
  serverTime: EpochMillis,
});
export type RunExplanation = typeof RunExplanation.Type;

/** What a retry made: another attempt of the same run, or a new submission of its input. */
export const RetryReceipt = Schema.Struct({
  kind: Schema.Literals(["new-attempt", "new-submission"]),
  runId: RunId,
  threadId: ThreadId,
});
export type RetryReceipt = typeof RetryReceipt.Type;

export const AgentToolView = Schema.Struct({
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  namespace: Schema.NullOr(Schema.String),
  failureMode: FailureMode,
  executionClass: ExecutionClass,
  approval: Schema.Literals(["never", "always", "by-rule"]),
  risk: Schema.NullOr(Risk),
  pinned: Schema.Boolean,
  discovery: Schema.Boolean,
  /** What a discovery result is bounded by; null for other tools and for discovery tools of one's own. */
  discoveryBounds: Schema.NullOr(
    Schema.Struct({ maxResults: Schema.Int, maxResultBytes: Schema.Int }),
  ),
  requiresHandler: Schema.Boolean,
  /** What its program may call, and how often in one call (CM-01); absent for a tool that calls nothing. */
  programmaticTools: Schema.optionalKey(
    Schema.Struct({ toolNames: Schema.Array(Schema.String), maxCalls: Schema.Int }),
  ),
  toolDigest: Digest,
  parametersSchema: Schema.Json,
  successSchema: Schema.Json,
  failureSchema: Schema.NullOr(Schema.Json),
});
export type AgentToolView = typeof AgentToolView.Type;

export const AgentView = Schema.Struct({
  agentId: AgentId,
  instructions: Schema.String,
  definitionDigest: Digest,
  inputSchema: Schema.Json,
  toolCount: Schema.Int,
  tools: Schema.Array(AgentToolView),
  exposure: Schema.NullOr(
    Schema.Struct({
      initialToolNames: Schema.Array(Schema.String),
      maxTools: Schema.Int,
      maxSchemaBytes: Schema.Int,
    }),
  ),
  policyInstalled: Schema.Boolean,
  visibilityInstalled: Schema.Boolean,
  /** Ready-made inputs to try, where the agent offers any. */
  examples: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      title: Schema.String,
      shows: Schema.String,
      input: Schema.Json,
    }),
  ),
});
export type AgentView = typeof AgentView.Type;

export const WorkerView = Schema.Struct({
  workerId: WorkerId,
  address: Schema.String,
  startedAt: EpochMillis,
  heartbeatAt: EpochMillis,
  state: Schema.Literals(["alive", "silent", "stopped"]),
  threads: Schema.Int,
  lastTakeoverAt: Schema.NullOr(EpochMillis),
});
export type WorkerView = typeof WorkerView.Type;

export const AuditView = Schema.Struct({
  sequence: Schema.Int,
  at: EpochMillis,
  actor: Actor,
  verb: Schema.String,
  target: Schema.String,
  runId: Schema.NullOr(RunId),
  accepted: Schema.Boolean,
  reason: Schema.String,
  before: Schema.NullOr(Schema.Json),
  after: Schema.NullOr(Schema.Json),
  commandId: Schema.NullOr(Schema.String),
  digest: Digest,
  previousDigest: Digest,
  /** The event that the act led to, where the log has it: what was there before it is one event earlier. */
  moment: Schema.optionalKey(Sequence),
});
export type AuditView = typeof AuditView.Type;

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
