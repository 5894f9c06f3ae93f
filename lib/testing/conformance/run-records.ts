/** Records of one run, as an engine would write them: what the conformance cases append. */
import { ApprovalRequestContent } from "#lib/contract/approval.ts";
import { ExposureSnapshot } from "#lib/contract/exposure.ts";
import {
  AgentId,
  Digest,
  RunId,
  SubmissionId,
  TenantId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { Actor, RecordOf, RunRecord } from "#lib/contract/records.ts";
import { approvalRequestIdOf, denialIdOf, unknownIdOf } from "#lib/durable/derived-ids.ts";

export const digest = (letter: string) => Digest.make(letter.repeat(64));
export const ada: Actor = { kind: "operator", id: "ada", name: "Ada" };
export const agentId = AgentId.make("desk");
export const callId = (id: string) => ToolCallId.make(id);

export interface RunPlace {
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly submissionId: SubmissionId;
}

export const placeOf = (name: string, tenant = "acme"): RunPlace => ({
  tenantId: TenantId.make(tenant),
  threadId: ThreadId.make(`thr_${name}`),
  runId: RunId.make(`run_${name}`),
  submissionId: SubmissionId.make(`sub_${name}`),
});

export const exposure = new ExposureSnapshot({
  exposed: ["refund"],
  pins: [],
  discoveryTools: [],
  eager: true,
  selectionSource: "initial",
  selected: [],
  schemaBytes: 10,
  maxTools: 10,
  maxSchemaBytes: 1_000,
  hiddenByVisibility: [],
  hiddenByVisibilityCount: 0,
  notSelected: [],
  notSelectedCount: 0,
  warnings: [],
});

/** Every record kind of one run, with its ids filled in. */
export const recordsOf = (place: RunPlace) => {
  const { runId } = place;
  const call = (id: string, turn = 1, toolName = "refund") => ({
    runId,
    turn,
    callId: callId(id),
    toolName,
  });
  const position = (id: string, turn = 1) => ({
    tenantId: place.tenantId,
    runId,
    turn,
    callId: callId(id),
  });
  return {
    opened: (input: Json = { text: "hello" }): RunRecord => ({
      _tag: "RunOpened",
      runId,
      submissionId: place.submissionId,
      agentId,
      definitionDigest: digest("d"),
      modelId: "scripted",
      input,
      requester: ada,
    }),
    attempt: (attempt = 1, epoch = 1): RunRecord => ({
      _tag: "AttemptStarted",
      runId,
      attempt,
      epoch,
      decision: attempt === 1 ? "first-attempt" : "apply-decisions",
      explanation: "because",
    }),
    turn: (
      ids: ReadonlyArray<string>,
      options: {
        readonly turn?: number;
        readonly parameters?: Json;
        readonly toolName?: string;
      } = {},
    ): RecordOf<"TurnRecorded"> => ({
      _tag: "TurnRecorded",
      runId,
      turn: options.turn ?? 1,
      response: [],
      text: "I will refund.",
      calls: ids.map((id, index) => ({
        callId: callId(id),
        index,
        toolName: options.toolName ?? "refund",
        parameters: options.parameters ?? { amount: 10 },
        parametersDigest: digest("a"),
        providerExecuted: false,
        executionClass: "uncertain" as const,
        toolDigest: digest("b"),
        needsApproval: false,
      })),
      rejections: [],
      exposure,
      finishReason: "tool-calls",
      usage: { inputTokens: 7, outputTokens: 3 },
      startedAt: 1_000,
    }),
    approvalRequested: (
      id: string,
      options: {
        readonly expiresAt?: number | "never";
        readonly denial?: "recoverable" | "terminal";
      } = {},
    ): RecordOf<"ApprovalRequested"> => ({
      _tag: "ApprovalRequested",
      ...call(id),
      requestId: approvalRequestIdOf(position(id)),
      request: ApprovalRequestContent.make({
        requestId: approvalRequestIdOf(position(id)),
        agentId,
        threadId: place.threadId,
        runId,
        turnId: "turn-1",
        turnNumber: 1,
        callId: callId(id),
        toolName: "refund",
        parameters: { amount: 10 },
        effectiveParameters: { amount: 10 },
        parametersDigest: digest("a"),
        targets: [{ kind: "order", id: "o-1" }],
        preview: { amount: "number" },
        previewSource: "structure",
        summary: "Refund 10 to o-1",
        risk: "high",
        denial: options.denial ?? "recoverable",
        requestedAt: 2_000,
        expiresAt: options.expiresAt ?? "never",
        requester: "Ada",
        approversRequired: 1,
        selfApproval: true,
      }),
    }),
    decided: (
      id: string,
      decision: "approved" | "denied" | "expired" = "approved",
      actor: Actor = ada,
    ): RecordOf<"ApprovalDecided"> => ({
      _tag: "ApprovalDecided",
      ...call(id),
      requestId: approvalRequestIdOf(position(id)),
      decision,
      actor,
      reason: "fine",
      parametersDigest: digest("a"),
      decidedAt: 3_000,
    }),
    denied: (id: string): RecordOf<"AuthorizationDenied"> => ({
      _tag: "AuthorizationDenied",
      ...call(id),
      denialId: denialIdOf(position(id), "denial"),
      reason: "not for you",
    }),
    checkFailed: (id: string): RecordOf<"AuthorizationCheckFailed"> => ({
      _tag: "AuthorizationCheckFailed",
      ...call(id),
      denialId: denialIdOf(position(id), "check-error"),
      message: "the policy store is away",
    }),
    prepared: (id: string, attempt = 1, turn = 1): RecordOf<"ToolCallPrepared"> => ({
      _tag: "ToolCallPrepared",
      ...call(id, turn),
      executionClass: "uncertain",
      parametersDigest: digest("a"),
      idempotencyKey: `key-${id}`,
      attempt,
    }),
    settled: (
      id: string,
      result: Json = { ok: true },
      overrides: Partial<RecordOf<"ToolCallSettled">> = {},
    ): RecordOf<"ToolCallSettled"> => ({
      _tag: "ToolCallSettled",
      ...call(id),
      kind: "succeeded",
      result,
      isFailure: false,
      originalBytes: 11,
      source: "handler",
      startedAt: 4_000,
      endedAt: 5_000,
      ...overrides,
    }),
    unknown: (id: string, afterSettlement = false): RecordOf<"ToolCallUnknown"> => ({
      _tag: "ToolCallUnknown",
      ...call(id),
      unknownId: unknownIdOf(position(id), 1),
      reason: "process-lost",
      detail: "prepared by a process that is gone",
      afterSettlement,
    }),
    resolved: (
      id: string,
      resolution: RecordOf<"UnknownResolved">["resolution"],
      result?: Json,
    ): RecordOf<"UnknownResolved"> => ({
      _tag: "UnknownResolved",
      ...call(id),
      unknownId: unknownIdOf(position(id), 1),
      resolution,
      ...(result === undefined ? {} : { result, isFailure: false }),
      actor: ada,
      reason: "looked it up",
      evidence: "ledger entry 7",
      resolvedAt: 6_000,
    }),
    aborted: (): RunRecord => ({
      _tag: "AbortRequested",
      runId,
      actor: ada,
      reason: "enough",
      requestedAt: 7_000,
    }),
    suspended: (waitingFor: "approval" | "unknown", attempt = 1): RunRecord => ({
      _tag: "RunSuspended",
      runId,
      attempt,
      waitingFor,
      activeMillis: 12,
    }),
    runSettled: (
      outcome: "completed" | "failed" | "aborted" = "completed",
    ): RecordOf<"RunSettled"> => ({
      _tag: "RunSettled",
      runId,
      submissionId: place.submissionId,
      outcome,
      ...(outcome === "completed"
        ? { output: { text: "done" } }
        : { failure: { errorTag: "ModelFailed", message: "no answer" } }),
      finishReason:
        outcome === "completed" ? "answered" : outcome === "aborted" ? "aborted" : "model-failure",
    }),
  };
};
