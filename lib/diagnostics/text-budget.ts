import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { wellFormedText } from "#lib/contract/json/visible-text.ts";
import { boundedText, truncationMarker } from "#lib/diagnostics/bounded-text.ts";
import { diagnosticLimits } from "#lib/diagnostics/limits.ts";
import { redactText, redactionMarker } from "#lib/diagnostics/redact-text.ts";

/** A host's own redaction, on top of the built-in one. */
export type TextRedactor = (text: string) => string;

/** A text that may be kept. */
export interface KeptText {
  readonly text: string;
  readonly truncated: boolean;
}

/** Redacts and shortens the texts of one diagnostic and counts what they cost together. */
export interface TextBudget {
  /** `undefined` when nothing is left to keep it with. */
  readonly keep: (text: string, maxBytes: number) => KeptText | undefined;
  readonly isSpent: () => boolean;
}

/** How much further than it keeps a text is read, so that a credential is not cut before it is recognised. */
const lookAhead = 4_096;

/** Starts a budget of `maxTextBytes` (`DX-04`). */
export const makeTextBudget = (redactor: TextRedactor | undefined): TextBudget => {
  let left: number = diagnosticLimits.maxTextBytes;
  return {
    isSpent: () => left < truncationMarker.length,
    keep: (text, maxBytes) => {
      const limit = Math.min(maxBytes, left);
      if (limit < truncationMarker.length) return undefined;
      const window = text.slice(0, maxBytes + lookAhead);
      const redacted = wellFormedText(redactText(hostRedacted(window, redactor)));
      // What was never looked at must be marked, even when redaction made the rest short enough.
      const whole =
        window.length === text.length
          ? redacted
          : `${redacted.slice(0, maxBytes)}${truncationMarker}`;
      const kept = boundedText(whole, limit);
      left -= utf8ByteLength(kept);
      return { text: kept, truncated: kept !== redacted };
    },
  };
};

/** A redactor that fails must not let the text through. */
const hostRedacted = (text: string, redactor: TextRedactor | undefined): string => {
  if (redactor === undefined) return text;
  try {
    const redacted: unknown = redactor(text);
    return typeof redacted === "string" ? redacted : redactionMarker;
  } catch {
    return redactionMarker;
  }
};
