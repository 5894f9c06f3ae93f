import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { CapturedDiagnostic } from "#lib/contract/diagnostic.ts";

/**
 * Diagnostics that this process captured or decoded. A thrown object that merely
 * looks like one is not among them, so it is captured like any other value.
 */
const known = new WeakSet<object>();

const decode = Schema.decodeUnknownOption(CapturedDiagnostic);

/** Remembers a diagnostic as one, so that it is never captured a second time. */
export const markCaptured = (diagnostic: CapturedDiagnostic): CapturedDiagnostic => {
  known.add(diagnostic);
  return diagnostic;
};

/** Whether a value is a diagnostic already. */
export const isCaptured = (value: unknown): value is CapturedDiagnostic =>
  typeof value === "object" && value !== null && known.has(value);

/** Reads a stored diagnostic; JSON of any other form is given back as it is. */
export const readCaptured = (encoded: Schema.Json): unknown =>
  Option.match(decode(encoded), { onNone: () => encoded, onSome: markCaptured });
