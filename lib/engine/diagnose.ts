import { type CallPosition, diagnosticIdOf } from "#lib/durable/derived-ids.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import { capture, diagnosticTitle, fingerprint } from "#lib/failure-diagnostic.ts";

/**
 * Captures the private evidence of a failure of one call, to be stored in the
 * transaction of the record that names it (DX-06, DX-07).
 *
 * @param occasion tells several failures of one call apart
 * @param otherwise the title where the evidence has nothing to say in a line; safe to show
 */
export const diagnose = (
  position: CallPosition,
  occasion: string,
  toolName: string,
  evidence: unknown,
  otherwise?: string,
): DiagnosticToStore => {
  const encoded = capture(evidence);
  return {
    diagnosticId: diagnosticIdOf(position, occasion),
    fingerprint: fingerprint(encoded),
    title: diagnosticTitle(encoded, otherwise),
    toolName,
    callId: position.callId,
    encoded,
  };
};
