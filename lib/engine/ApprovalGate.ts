/**
 * Stage 3: who must be asked, and what they are shown. Asked
 * once per call, right after preflight, so that the answer is stored with the
 * response itself and a restart cannot turn a pending call into a running one.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type * as Prompt from "effect/unstable/ai/Prompt";
import type { ApprovalPolicyError } from "#lib/agent-error.ts";
import { ApprovalPolicy, askPolicy } from "#lib/approval/ApprovalPolicy.ts";
import { evaluateNeed, needsNobody } from "#lib/approval/evaluate-need.ts";
import { buildRequestContent } from "#lib/approval/request-content.ts";
import type { Digest } from "#lib/contract/ids.ts";
import type { Actor, RecordOf } from "#lib/contract/records.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import { approvalRequestIdOf } from "#lib/durable/derived-ids.ts";
import { digestOfArguments } from "./arguments-digest.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { diagnose } from "./diagnose.ts";
import type { CheckedBatch, ExecutableCall } from "./Preflight.ts";
import { promptOf } from "./prompt-parts.ts";
import type { RunContext } from "./RunContext.ts";

/** What the gate found for a whole batch. */
export interface GatedBatch {
  /** Ids of the calls that a person or a rule must approve. */
  readonly needsApproval: ReadonlySet<string>;
  readonly requests: ReadonlyArray<RecordOf<"ApprovalRequested">>;
  /** What rules decided by themselves, stored together with their requests. */
  readonly decisions: ReadonlyArray<RecordOf<"ApprovalDecided">>;
  /** Why a rule or policy could not be relied on, so that a person is asked instead. */
  readonly diagnostics: ReadonlyArray<DiagnosticToStore>;
}

/** Digest of what would run; a decision names it. */
export const effectiveDigest = (call: ExecutableCall): Digest =>
  digestOfArguments(call.arguments.effective);

const asksItsOwnRule = (call: CheckedBatch["calls"][number]): boolean =>
  call._tag === "executable" && typeof call.tool.needsApproval === "function";

/** Fails with `ApprovalPolicyError` when a request cannot be built: then nothing of the batch can be granted. */
export const gateBatch = Effect.fnUntraced(function* (
  context: RunContext,
  turn: number,
  batch: CheckedBatch,
  encoded: ReadonlyArray<Prompt.MessageEncoded>,
  now: number,
): Effect.fn.Return<GatedBatch, ApprovalPolicyError> {
  // Decoding a whole conversation costs as much as a batch; only a rule of the tool's own reads it. It gets one
  // that no request and no record shares, and that no rule can change for the next.
  const messages = batch.calls.some(asksItsOwnRule)
    ? deepFreeze(promptOf(structuredClone(encoded)).content)
    : [];
  const policy = yield* ApprovalPolicy;
  const requests: Array<RecordOf<"ApprovalRequested">> = [];
  const decisions: Array<RecordOf<"ApprovalDecided">> = [];
  const diagnostics: Array<DiagnosticToStore> = [];
  for (const call of batch.calls) {
    if (call._tag !== "executable" || needsNobody(call.tool)) continue;
    const need = yield* evaluateNeed(call.tool, {
      toolCallId: call.callId,
      decodedParameters: call.arguments.decoded,
      messages,
    });
    if (need._tag === "notNeeded") continue;
    const position = {
      tenantId: context.tenantId,
      runId: context.runId,
      turn,
      callId: call.callId,
    };
    if (need.because === "ruleFailed") {
      diagnostics.push(diagnose(position, "approval-rule", call.toolName, need.failure));
    }
    const request = yield* requestFor(context, turn, call, now);
    requests.push(request);
    const verdict = yield* askPolicy(policy, request.request);
    if (verdict.failure !== undefined) {
      diagnostics.push(diagnose(position, "approval-policy", call.toolName, verdict.failure));
    }
    const decision = policyDecision(request, verdict.answer, now);
    if (decision !== undefined) decisions.push(decision);
  }
  return {
    needsApproval: new Set(requests.map((request) => request.callId)),
    requests,
    decisions,
    diagnostics,
  };
});

const requestFor = Effect.fnUntraced(function* (
  context: RunContext,
  turn: number,
  call: ExecutableCall,
  now: number,
): Effect.fn.Return<RecordOf<"ApprovalRequested">, ApprovalPolicyError> {
  const requestId = approvalRequestIdOf({
    tenantId: context.tenantId,
    runId: context.runId,
    turn,
    callId: call.callId,
  });
  const built = buildRequestContent({
    requestId,
    agentId: context.definition.id,
    threadId: context.threadId,
    runId: context.runId,
    submissionId: context.submissionId,
    turnId: `turn-${turn}`,
    turnNumber: turn,
    callId: call.callId,
    parameters: call.arguments.parameters,
    effectiveParameters: call.arguments.effective,
    parametersDigest: effectiveDigest(call),
    requestedAt: now,
    requester: context.requester.id,
    tool: call.tool,
    decodedParameters: call.arguments.decoded,
    ...(context.definition.approvalExpiresAfter === undefined
      ? {}
      : { agentExpiresAfter: context.definition.approvalExpiresAfter }),
  });
  if (Result.isFailure(built)) return yield* built.failure;
  return {
    _tag: "ApprovalRequested",
    runId: context.runId,
    turn,
    callId: call.callId,
    toolName: call.toolName,
    requestId,
    request: built.success,
  };
});

const policyDecision = (
  { request, ...requested }: RecordOf<"ApprovalRequested">,
  answer: { readonly _tag: string; readonly rule?: string; readonly reason?: string },
  now: number,
): RecordOf<"ApprovalDecided"> | undefined => {
  if (answer._tag === "defer") return undefined;
  const rule = answer.rule ?? "policy";
  const actor: Actor = { kind: "policy", id: rule, name: rule };
  return {
    ...requested,
    _tag: "ApprovalDecided",
    decision: answer._tag === "approve" ? "approved" : "denied",
    actor,
    reason: answer.reason ?? "",
    parametersDigest: request.parametersDigest,
    decidedAt: now,
  };
};
