/**
 * Ids that follow from others. A digest of the tuple, never a joined string, so
 * that making one again after a crash gives the same id and no choice of parts
 * can collide.
 */
import { digestOf } from "../contract/json/digest.ts";
import {
  ApprovalRequestId,
  DenialId,
  DiagnosticId,
  ProbeId,
  ResultId,
  type RunId,
  type TenantId,
  ToolCallId,
  UnknownId,
} from "../contract/ids.ts";

/** Where a call stands: unique although models reuse call ids in later turns (R32). */
export interface CallPosition {
  readonly tenantId: TenantId;
  readonly runId: RunId;
  readonly turn: number;
  readonly callId: ToolCallId;
}

const derive = (noun: string, position: CallPosition, extra?: string): string =>
  digestOf([
    noun,
    position.tenantId,
    position.runId,
    position.turn,
    position.callId,
    extra ?? null,
  ]);

export const approvalRequestIdOf = (position: CallPosition): ApprovalRequestId =>
  ApprovalRequestId.make(`apr_${derive("approval", position).slice(0, 32)}`);

/** `preparation` counts from 1: a call that runs again after a resolution may be in doubt again. */
export const unknownIdOf = (position: CallPosition, preparation: number): UnknownId =>
  UnknownId.make(`unk_${derive("unknown", position, String(preparation)).slice(0, 32)}`);

/** `occasion` tells the questions about one effect apart: the attempt that asks, or the operator's command. */
export const probeIdOf = (unknownId: UnknownId, occasion: string): ProbeId =>
  ProbeId.make(`prb_${digestOf(["probe", unknownId, occasion]).slice(0, 32)}`);

export const denialIdOf = (position: CallPosition, kind: "denial" | "check-error"): DenialId =>
  DenialId.make(`den_${derive("denial", position, kind).slice(0, 32)}`);

export const diagnosticIdOf = (position: CallPosition, occasion: string): DiagnosticId =>
  DiagnosticId.make(`dia_${derive("diagnostic", position, occasion).slice(0, 32)}`);

/** Names a call's kept result to the model, whose call ids may come again in a later turn or run. */
export const resultIdOf = (position: CallPosition): ResultId =>
  ResultId.make(`res_${derive("result", position).slice(0, 32)}`);

const innerPrefix = "inner_";

/**
 * The id of the call number `sequenceIndex` (from 0) that a program makes inside
 * the call at `position` (CM-02). Made by the broker alone; the program never
 * names one, and a model's response that carries an id of this form is refused.
 */
export const innerCallIdOf = (position: CallPosition, sequenceIndex: number): ToolCallId =>
  ToolCallId.make(
    `${innerPrefix}${derive("inner-call", position, String(sequenceIndex)).slice(0, 32)}`,
  );

/** Whether an id has the form that only the broker gives. */
export const isInnerCallId = (callId: string): boolean => /^inner_[0-9a-f]{32}$/.test(callId);

/**
 * The key a tool hands to the destination so that a repeated request acts once.
 * The same for every attempt of one call, another for every other call (DU-05).
 */
export const idempotencyKeyOf = (position: CallPosition): string =>
  derive("idempotency-key", position);
