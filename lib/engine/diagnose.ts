import * as Cause from "effect/Cause";
import { type CallPosition, diagnosticIdOf } from "#lib/durable/derived-ids.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import { capture, fingerprint } from "#lib/failure-diagnostic.ts";
import { summarizeFailure } from "./classify-exit.ts";

/**
 * Captures the private evidence of a failure of one call, to be stored in the
 * transaction of the record that names it (DX-06, DX-07).
 *
 * @param occasion tells several failures of one call apart
 */
export const diagnose = (
  position: CallPosition,
  occasion: string,
  toolName: string,
  evidence: unknown,
): DiagnosticToStore => {
  const encoded = capture(evidence);
  return {
    diagnosticId: diagnosticIdOf(position, occasion),
    fingerprint: fingerprint(encoded),
    title: titleOf(evidence),
    toolName,
    callId: position.callId,
    encoded,
  };
};

/** Tag and first line of the message, at most 200 characters. */
const titleOf = (evidence: unknown): string => {
  const error = Cause.isCause(evidence) ? Cause.squash(evidence) : evidence;
  const { errorTag, message } = summarizeFailure(error, "Failure");
  return `${errorTag}: ${message.split("\n", 1)[0] ?? ""}`.slice(0, 200);
};
