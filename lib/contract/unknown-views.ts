/** Effects in doubt. */
import * as Schema from "effect/Schema";
import {
  AgentId,
  Digest,
  EpochMillis,
  ProbeId,
  RunId,
  ThreadId,
  ToolCallId,
  UnknownId,
} from "./ids.ts";
import { Actor } from "./records.ts";
import { ExecutionClass, ProbeFinding, ResolutionKind } from "./status.ts";

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
