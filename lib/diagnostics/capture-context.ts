import type { DiagnosticContext } from "#lib/contract/diagnostic.ts";
import { diagnosticLimits } from "#lib/diagnostics/limits.ts";
import { makeTextBudget } from "#lib/diagnostics/text-budget.ts";

/** Identities as their owners hold them. */
export type DiagnosticContextInput = {
  readonly [Key in keyof DiagnosticContext]: string | number | undefined;
};

const keys = [
  "agent",
  "thread",
  "run",
  "submission",
  "attempt",
  "turn",
  "toolCall",
  "tool",
  "check",
  "operation",
] as const satisfies ReadonlyArray<keyof DiagnosticContext>;

/**
 * Copies of the identities a failure belongs to, each at most 256 bytes of UTF-8;
 * a shortened one ends in `[truncated]` (`DX-05`). Only the named identities are
 * copied. The originals stay in the records that own them.
 */
export const captureContext = (identities: DiagnosticContextInput): DiagnosticContext => {
  const texts = makeTextBudget(undefined);
  const copies: { -readonly [Key in keyof DiagnosticContext]: DiagnosticContext[Key] } = {};
  for (const key of keys) {
    const identity = identities[key];
    if (typeof identity !== "string" && typeof identity !== "number") continue;
    const kept = texts.keep(String(identity), diagnosticLimits.maxContextBytes);
    if (kept !== undefined) copies[key] = kept.text;
  }
  return copies;
};
