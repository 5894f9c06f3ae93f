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
  type RunId,
  type TenantId,
  type ToolCallId,
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

export const denialIdOf = (position: CallPosition, kind: "denial" | "check-error"): DenialId =>
  DenialId.make(`den_${derive("denial", position, kind).slice(0, 32)}`);

export const diagnosticIdOf = (position: CallPosition, occasion: string): DiagnosticId =>
  DiagnosticId.make(`dia_${derive("diagnostic", position, occasion).slice(0, 32)}`);

/**
 * The key a tool hands to the destination so that a repeated request acts once.
 * The same for every attempt of one call, another for every other call (DU-05).
 */
export const idempotencyKeyOf = (position: CallPosition): string =>
  derive("idempotency-key", position);
