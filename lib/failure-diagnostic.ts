/**
 * Private evidence of failures: whole in the process, and reduced to bounded,
 * redacted data wherever it crosses a JSON boundary (`DX-01`). Operator data with
 * a permission of its own: never model text, never part of an event, a settlement
 * or a log, and never the payload of a tool's declared failure (`DX-06`, `DX-08`).
 */
import * as EffectCause from "effect/Cause";
import * as Schema from "effect/Schema";
import * as SchemaTransformation from "effect/SchemaTransformation";
import type { CapturedDiagnostic } from "#lib/contract/diagnostic.ts";
import { capture } from "#lib/diagnostics/capture.ts";
import { diagnosticAnnotation } from "#lib/diagnostics/carries-diagnostic.ts";
import { isCaptured, readCaptured } from "#lib/diagnostics/captured.ts";

/** The module by its own name, so that `import { FailureDiagnostic } from "effect-agent/failure-diagnostic"` works too. */
export * as FailureDiagnostic from "#lib/failure-diagnostic.ts";
export type {
  CapturedDiagnostic,
  DiagnosticContext,
  DiagnosticNode,
} from "#lib/contract/diagnostic.ts";
export { boundedText, truncationMarker } from "#lib/diagnostics/bounded-text.ts";
export { capture, type CaptureOptions } from "#lib/diagnostics/capture.ts";
export { carriesDiagnostic } from "#lib/diagnostics/carries-diagnostic.ts";
export { captureContext, type DiagnosticContextInput } from "#lib/diagnostics/capture-context.ts";
export { failureSummary } from "#lib/diagnostics/failure-summary.ts";
export { diagnosticTitle, fingerprint } from "#lib/diagnostics/fingerprint.ts";
export { diagnosticLimits } from "#lib/diagnostics/limits.ts";
export { redactText, redactionMarker } from "#lib/diagnostics/redact-text.ts";
export type { TextRedactor } from "#lib/diagnostics/text-budget.ts";

/**
 * Codec for any failure value. In the process it holds the original value; it
 * encodes to a captured diagnostic, and decoding gives that data, never a rebuilt
 * error class (`DX-01`). Encoding decoded data changes nothing.
 */
export const Value: Schema.Codec<unknown, Schema.Json> = Schema.Json.pipe(
  Schema.decodeTo(
    Schema.Unknown,
    SchemaTransformation.transform<unknown, Schema.Json>({
      decode: readCaptured,
      encode: (value) => capture(value),
    }),
  ),
  Schema.annotate({ [diagnosticAnnotation]: true }),
);

/**
 * The same for Effect causes: failures, defects and interruptions in their order.
 * Decoding gives the captured diagnostic, not a cause (`DX-01`).
 */
export const Cause: Schema.Codec<EffectCause.Cause<unknown> | CapturedDiagnostic, Schema.Json> =
  Value.pipe(
    Schema.decodeTo(
      Schema.declare(
        (value): value is EffectCause.Cause<unknown> | CapturedDiagnostic =>
          EffectCause.isCause(value) || isCaptured(value),
        { expected: "a cause or a captured diagnostic" },
      ),
      SchemaTransformation.passthroughSupertype(),
    ),
  );
