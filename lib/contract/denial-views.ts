/** Policy denials, authorization check errors, and the private evidence of failures. */
import * as Schema from "effect/Schema";
import {
  AgentId,
  DenialId,
  DiagnosticId,
  EpochMillis,
  RunId,
  ThreadId,
  ToolCallId,
} from "./ids.ts";

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
