/**
 * What a batch of records changes in the projections, as data. Pure: the append
 * and the rebuild apply the same changes with the same SQL (`project_changes` in
 * migrations/0032_lean_appends.sql), so they cannot drift apart; what the append of
 * a turnover writes itself (`call-turnover.ts`) is held against the rebuild by a test.
 */
import * as Result from "effect/Result";
import { encodeCanonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { DeclaredCall, RecordOf, RunRecord, RunRecordKind } from "#lib/contract/records.ts";
import type { CallState } from "#lib/contract/status.ts";
import { columnName, columnText } from "#server/postgres/columns.ts";
import {
  ProjectionDraft,
  type ProjectionChanges,
  type Row,
} from "#server/postgres/projection-draft.ts";

export interface PlacedRecord {
  readonly sequence: number;
  readonly record: RunRecord;
}

const callColumns = (record: {
  readonly turn: number;
  readonly callId: string;
  readonly toolName: string;
}) => ({
  turn: record.turn,
  call_id: record.callId,
  tool_name: columnName(record.toolName),
});

const callRow = (turn: number, call: DeclaredCall, sequence: number): Row => ({
  turn,
  call_id: call.callId,
  call_index: call.index,
  tool_name: columnName(call.toolName),
  execution_class: call.executionClass,
  provider_executed: call.providerExecuted,
  needs_approval: call.needsApproval,
  parameters_digest: call.parametersDigest,
  tool_digest: call.toolDigest,
  failure_mode: call.failureMode,
  declared_sequence: sequence,
  parent_call_id: call.parentCallId,
});

const failureColumns = (failure: RecordOf<"RunSettled">["failure"]): Row =>
  failure === undefined
    ? {}
    : {
        failure_tag: columnName(failure.errorTag),
        failure_message: columnText(failure.message),
        diagnostic_id: failure.diagnosticId,
      };

const stateOfSettled: { readonly [Kind in RecordOf<"ToolCallSettled">["kind"]]: CallState } = {
  succeeded: "succeeded",
  failed: "failed",
  rejected: "failed",
  "denied-by-person": "denied-by-person",
  expired: "expired",
  "not-executed": "not-executed",
};

const stateOfDecided: {
  readonly [Decision in RecordOf<"ApprovalDecided">["decision"]]: CallState;
} = {
  approved: "queued",
  denied: "denied-by-person",
  expired: "expired",
};

type Project = {
  readonly [Kind in RunRecordKind]: (
    draft: ProjectionDraft,
    record: RecordOf<Kind>,
    sequence: number,
  ) => void;
};

const projectKind: Project = {
  RunOpened: (draft, record) =>
    draft.changeRun({
      state: "running",
      starts: true,
      model_id: columnName(record.modelId),
      definition_digest: record.definitionDigest,
    }),
  AttemptStarted: (draft) => {
    draft.changeRun({ state: "running" });
    draft.addToRun({ attempts: 1 });
  },
  TurnRecorded: (draft, record, sequence) => {
    draft.progressed = true;
    const { inputTokens, outputTokens } = record.usage;
    draft.addToRun({
      turns: 1,
      tool_calls: record.calls.length,
      input_tokens: inputTokens ?? 0,
      output_tokens: outputTokens ?? 0,
    });
    draft.turns.push({
      turn: record.turn,
      record_sequence: sequence,
      call_count: record.calls.length,
      finish_reason: columnName(record.finishReason),
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      started_ms: record.startedAt,
    });
    for (const call of record.calls) draft.calls.push(callRow(record.turn, call, sequence));
  },
  InnerCallDeclared: (draft, record, sequence) => {
    draft.calls.push(callRow(record.turn, record.declared, sequence));
  },
  // A run that takes a step has come further, however often its process is lost.
  StepRecorded: (draft) => {
    draft.progressed = true;
  },
  ApprovalRequested: (draft, record, sequence) => {
    const { request } = record;
    draft.changeCall(record, {
      state: "waiting",
      approval_request_id: record.requestId,
      requested_ms: request.requestedAt,
    });
    draft.addPeople("approvals", {
      ...callColumns(record),
      request_id: record.requestId,
      summary: columnText(request.summary),
      risk: request.risk,
      denial_rule: request.denial,
      requester: request.requester === undefined ? null : columnName(request.requester),
      approvers_required: request.approversRequired,
      self_approval: request.selfApproval,
      parameters_digest: request.parametersDigest,
      content: Result.getOrThrow(encodeCanonicalJson(request)),
      requested_sequence: sequence,
      requested_ms: request.requestedAt,
      expires_ms: request.expiresAt === "never" ? null : request.expiresAt,
    });
  },
  ApprovalDecided: (draft, record) => {
    draft.changeCall(record, {
      state: stateOfDecided[record.decision],
      decided_ms: record.decidedAt,
    });
    draft.addPeople("decisions", {
      request_id: record.requestId,
      decision: record.decision,
      actor_kind: record.actor.kind,
      actor_id: columnName(record.actor.id),
      actor_name: columnName(record.actor.name),
      reason: columnText(record.reason),
      suggestion:
        record.suggestion === undefined
          ? null
          : Result.getOrThrow(encodeCanonicalJson(record.suggestion)),
      decided_ms: record.decidedAt,
    });
  },
  AuthorizationDenied: (draft, record, sequence) => {
    draft.changeCall(record, {
      state: "denied-by-policy",
      denial_id: record.denialId,
      diagnostic_id: record.diagnosticId,
    });
    draft.addPeople("denials", {
      ...callColumns(record),
      denial_id: record.denialId,
      kind: "denial",
      reason: columnText(record.reason),
      diagnostic_id: record.diagnosticId,
      denied_sequence: sequence,
    });
  },
  AuthorizationCheckFailed: (draft, record, sequence) => {
    draft.changeCall(record, { denial_id: record.denialId, diagnostic_id: record.diagnosticId });
    draft.addPeople("denials", {
      ...callColumns(record),
      denial_id: record.denialId,
      kind: "check-error",
      reason: columnText(record.message),
      diagnostic_id: record.diagnosticId,
      denied_sequence: sequence,
    });
  },
  ToolCallPrepared: (draft, record, sequence) =>
    draft.changeCall(record, {
      state: "running",
      idempotency_key: record.idempotencyKey,
      attempt: record.attempt,
      prepared_sequence: sequence,
    }),
  ToolCallSettled: (draft, record, sequence) => {
    draft.progressed = true;
    draft.changeCall(record, {
      state: stateOfSettled[record.kind],
      failure_mode: record.failureMode,
      failure_handling: record.failureHandling,
      ...failureColumns(record.failure),
      is_failure: record.isFailure,
      original_bytes: record.originalBytes,
      settled_sequence: sequence,
      started_ms: record.startedAt,
      ended_ms: record.endedAt,
    });
    if (record.source === "reconciler") {
      draft.addPeople("reconciled", {
        turn: record.turn,
        call_id: record.callId,
        result: Result.getOrThrow(encodeCanonicalJson(record.result)),
        result_is_failure: record.isFailure,
      });
    }
  },
  ToolCallUnknown: (draft, record, sequence) => {
    draft.changeCall(record, { state: "unknown", unknown_id: record.unknownId });
    draft.addPeople("unknowns", {
      ...callColumns(record),
      unknown_id: record.unknownId,
      reason: record.reason,
      detail: columnText(record.detail),
      after_settlement: record.afterSettlement,
      unknown_sequence: sequence,
    });
  },
  UnknownProbed: (draft, record, sequence) =>
    draft.probes.push({
      ...callColumns(record),
      probe_id: record.probeId,
      unknown_id: record.unknownId,
      finding: record.finding,
      detail: columnText(record.detail),
      result:
        record.result === undefined ? null : Result.getOrThrow(encodeCanonicalJson(record.result)),
      result_is_failure: record.isFailure,
      settles: record.settles,
      asker_kind: record.actor.kind,
      asker_id: columnName(record.actor.id),
      asker_name: columnName(record.actor.name),
      asked_ms: record.askedAt,
      answered_ms: record.answeredAt,
      record_sequence: sequence,
    }),
  UnknownResolved: (draft, record) => {
    if (record.resolution === "never-happened" || record.resolution === "safe-to-retry") {
      draft.changeCall(record, { state: "queued" });
    }
    draft.addPeople("resolutions", {
      unknown_id: record.unknownId,
      resolution: record.resolution,
      result:
        record.result === undefined ? null : Result.getOrThrow(encodeCanonicalJson(record.result)),
      result_is_failure: record.isFailure,
      actor_kind: record.actor.kind,
      actor_id: columnName(record.actor.id),
      actor_name: columnName(record.actor.name),
      reason: columnText(record.reason),
      evidence: columnText(record.evidence),
      resolved_ms: record.resolvedAt,
    });
  },
  AbortRequested: (draft, record) =>
    draft.addPeople("aborts", {
      actor_kind: record.actor.kind,
      actor_id: columnName(record.actor.id),
      actor_name: columnName(record.actor.name),
      reason: columnText(record.reason),
      requested_ms: record.requestedAt,
    }),
  RunSuspended: (draft, record) => {
    const state = record.waitingFor === "approval" ? "waiting" : "unknown";
    draft.changeRun({ state });
    draft.submission = state;
    draft.progressed = true;
  },
  RunSettled: (draft, record, sequence) => {
    draft.changeRun({
      state: record.outcome,
      ...failureColumns(record.failure),
      finish_reason: record.finishReason,
      exhausted: record.exhausted,
      settled_sequence: sequence,
    });
    draft.submission = "settled";
  },
};

/** The changes of a batch in the order of its records; `undefined` when there are none. */
export const projectRecords = (
  records: ReadonlyArray<PlacedRecord>,
): ProjectionChanges | undefined => {
  if (records.length === 0) return undefined;
  const draft = new ProjectionDraft();
  for (const { record, sequence } of records) {
    // The table is keyed by the record's own tag, a correlation that TypeScript cannot follow.
    const project = projectKind[record._tag] as (
      draft: ProjectionDraft,
      record: RunRecord,
      sequence: number,
    ) => void;
    project(draft, record, sequence);
  }
  return draft.changes();
};
