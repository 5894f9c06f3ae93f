/**
 * Stored calls back to calls that may run (F-08, DU-19, X-14). What is stored is
 * checked as strictly as what a model writes: evidence that contradicts itself
 * stops the run, and a tool that changed or went away never runs under an old
 * call's name.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { toolDigestOf } from "#lib/agent/definition-digest.ts";
import { checkApprovers } from "#lib/approval/approver-rule.ts";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json, JsonObject } from "#lib/contract/json/json.ts";
import type { RecordOf } from "#lib/contract/records.ts";
import type { CallEvidence, TurnEvidence } from "#lib/durable/run-state.ts";
import { EvidenceCorrupt } from "#lib/durable/StoreError.ts";
import { withdrawnTools } from "#lib/exposure/resume-exposure.ts";
import { digestOfArguments } from "./arguments-digest.ts";
import type { ReadyCall } from "./run-handler.ts";
import { eligibleTools } from "./expose-tools.ts";
import type { RunContext } from "./RunContext.ts";
import { decodeEffective } from "./ToolArguments.ts";

export interface StoredCalls {
  readonly ready: ReadonlyArray<ReadyCall>;
  /** Calls whose tool is not the one they were declared for, with the reason. */
  readonly drifted: ReadonlyArray<{ readonly call: CallEvidence; readonly reason: string }>;
}

const corrupt = (context: RunContext, call: CallEvidence, what: string): EvidenceCorrupt =>
  new EvidenceCorrupt({
    threadId: context.threadId,
    message: `The stored call ${call.declared.callId} of ${call.declared.toolName} ${what}. Nothing of its batch is run.`,
  });

/**
 * What of a stored call contradicts itself, if anything. A rejection must be there
 * for a call that was rejected, tied to the very arguments, and only for such a
 * call; an approval must belong to this call, to its request and to its arguments.
 */
const contradictionOf = (written: Json | undefined, call: CallEvidence): string | undefined => {
  const { declared, rejection, settled } = call;
  if (!sameJson(written, declared.parameters)) {
    return "has other arguments than the stored response declares";
  }
  if (rejection !== undefined) {
    if (declared.effectiveParameters !== undefined)
      return "has a rejection although its arguments passed validation";
    return sameJson(rejection.parameters, declared.parameters)
      ? undefined
      : "was rejected for other arguments than it has now";
  }
  if (settled?.kind === "rejected") return "has a rejected result but no rejection on record";
  if (declared.effectiveParameters === undefined) return "has no arguments that passed validation";
  if (!matchesDigest(call)) return "does not match the digest of its arguments";
  return approvalContradictionOf(call);
};

const matchesDigest = ({ declared, requested }: CallEvidence): boolean => {
  const json = declared.effectiveParameters ?? declared.parameters;
  // A request shows parts of the arguments to rules of the host, which might have changed them.
  const digest = requested === undefined ? digestOfArguments(json) : digestOf(json);
  return digest === declared.parametersDigest;
};

/** An answer counts only for the request that was made for these arguments (A-09, A-12, R04, R05). */
const approvalContradictionOf = ({
  declared,
  decided,
  requested,
}: CallEvidence): string | undefined => {
  if (declared.needsApproval !== (requested !== undefined)) {
    return declared.needsApproval
      ? "needs an approval that was never asked for"
      : "has an approval request that it does not need";
  }
  if (requested !== undefined && requested.request.parametersDigest !== declared.parametersDigest) {
    return "was shown to people with other arguments than it has now";
  }
  if (decided === undefined) return undefined;
  if (decided.parametersDigest !== declared.parametersDigest)
    return "was decided for other arguments than it has now";
  if (requested === undefined || decided.requestId !== requested.requestId)
    return "has a decision that answers no request of it";
  return isByEnoughPeople(requested.request, decided)
    ? undefined
    : "was approved by fewer people than it needs";
};

/** A rule of the host answers alone; people are counted (A-02, C041). */
const isByEnoughPeople = (
  request: ApprovalRequestContent,
  decided: RecordOf<"ApprovalDecided">,
): boolean => {
  if (decided.decision !== "approved" || decided.actor.kind !== "operator") return true;
  const approvers = decided.approvers ?? [decided.actor];
  const ids = approvers.map(({ id }) => id);
  return checkApprovers(request, ids)._tag === "granted";
};

/** Arguments of the calls in the stored assistant message, where the model wrote them, by call id. */
const writtenParameters = (turn: TurnEvidence): ReadonlyMap<unknown, Json> => {
  const written = new Map<unknown, Json>();
  for (const part of turn.recorded.response) {
    if (part === null || typeof part !== "object" || Array.isArray(part)) continue;
    const { type, id, params } = part as JsonObject; // neither null nor an array
    if (type === "tool-call" && !written.has(id)) written.set(id, params ?? null);
  }
  return written;
};

/** One value in both places, as a turn that this process took has it, needs no text to be equal. */
const sameJson = (one: Json | undefined, other: Json): boolean =>
  one !== undefined && (Object.is(one, other) || canonicalJson(one) === canonicalJson(other));

/**
 * Looks at every call of a stored turn, settled ones too: a result alone excuses
 * nothing (F-08). A turn whose preflight refused it is not looked at, since
 * nothing of it can run; neither are calls that the provider executed (Z-10).
 */
export const checkEvidence = (
  context: RunContext,
  turn: TurnEvidence,
): Effect.Effect<void, EvidenceCorrupt> => {
  if (turn.recorded.refusal !== undefined) return Effect.void;
  const written = writtenParameters(turn);
  for (const call of turn.calls) {
    if (call.declared.providerExecuted) continue;
    const contradiction = contradictionOf(written.get(call.declared.callId), call);
    if (contradiction !== undefined) return Effect.fail(corrupt(context, call, contradiction));
    // What a program asked for stands in no response; its digest is what ties it down.
    const changed = call.inner.find((inner) => !matchesDigest(inner));
    if (changed !== undefined)
      return Effect.fail(corrupt(context, changed, "does not match the digest of its arguments"));
  }
  return Effect.void;
};

/** Why the registered tool is not the one that the call was declared for, if it is not (DU-19). */
export const driftOf = (context: RunContext, call: CallEvidence): string | undefined => {
  const { tools } = context.definition.toolkit;
  const { toolName, toolDigest } = call.declared;
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  if (tool === undefined) return `The tool ${toolName} is not registered any more.`;
  return toolDigestOf(tool) === toolDigest
    ? undefined
    : `The tool ${toolName} has changed since this call was declared.`;
};

/** Sorts unfinished calls into those that may go on to authorization and those that must not. */
export const loadCalls = (
  context: RunContext,
  turn: TurnEvidence,
  calls: ReadonlyArray<CallEvidence>,
): Effect.Effect<StoredCalls, EvidenceCorrupt> =>
  Effect.gen(function* () {
    yield* checkEvidence(context, turn);
    const eligible = yield* eligibleTools(context, turn.recorded.turn);
    const withdrawn = withdrawnTools(
      turn.recorded.exposure,
      eligible,
      calls.map((call) => call.declared.toolName),
    );
    const hidden = new Set(
      Result.getOrElse(withdrawn, () => calls.map((call) => call.declared.toolName)),
    );
    const ready: Array<ReadyCall> = [];
    const drifted: Array<StoredCalls["drifted"][number]> = [];
    for (const call of calls) {
      const { toolName, effectiveParameters } = call.declared;
      const tool = context.definition.toolkit.tools[toolName];
      const drift =
        driftOf(context, call) ??
        (hidden.has(toolName)
          ? `The tool ${toolName} is not visible to this run any more.`
          : undefined);
      if (drift !== undefined || tool === undefined || effectiveParameters === undefined) {
        drifted.push({ call, reason: drift ?? `The tool ${toolName} is not registered any more.` });
        continue;
      }
      const decoded = yield* decodeEffective(tool, effectiveParameters);
      if (Result.isFailure(decoded))
        return yield* corrupt(
          context,
          call,
          `has arguments that its schema refuses: ${decoded.failure}`,
        );
      ready.push({
        evidence: call,
        tool,
        effective: effectiveParameters,
        decoded: decoded.success,
      });
    }
    return { ready, drifted };
  });
