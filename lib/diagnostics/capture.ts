/**
 * Turns any failure value into bounded, redacted data (`DX-02` to `DX-04`).
 * Never throws, whatever the value does when it is read.
 */
import * as Cause from "effect/Cause";
import * as Redacted from "effect/Redacted";
import type {
  CapturedDiagnostic,
  CauseReason,
  DiagnosticNode,
  OmissionReason,
} from "#lib/contract/diagnostic.ts";
import { brokenCheckOf } from "#lib/diagnostics/broken-check.ts";
import { captureContext, type DiagnosticContextInput } from "#lib/diagnostics/capture-context.ts";
import { isCaptured, markCaptured } from "#lib/diagnostics/captured.ts";
import { diagnosticLimits } from "#lib/diagnostics/limits.ts";
import {
  makeTextBudget,
  type TextBudget,
  type TextRedactor,
} from "#lib/diagnostics/text-budget.ts";

/** How a host captures. */
export interface CaptureOptions {
  /** A stricter redaction of each text; one that fails hides the text. */
  readonly redact?: TextRedactor;
  /** The identities the failure belongs to (`DX-05`). */
  readonly context?: DiagnosticContextInput;
}

/** The only fields of a failure value that are read, apart from those of an Effect cause. */
const keptFields = new Set([
  "name",
  "_tag",
  "message",
  "code",
  "reason",
  "stack",
  "cause",
  "errors",
]);

/**
 * Captures a failure value or an Effect cause. A value that was captured before is
 * given back unchanged.
 */
export const capture = (value: unknown, options: CaptureOptions = {}): CapturedDiagnostic => {
  if (isCaptured(value)) return value;
  const walk: Walk = {
    texts: makeTextBudget(options.redact),
    ancestors: new Set(),
    nodes: diagnosticLimits.maxNodes,
  };
  const check = brokenCheckOf(value);
  const context = check === undefined ? options.context : { check, ...options.context };
  return markCaptured({
    _tag: "FailureDiagnostic",
    version: 1,
    // The diagnostic itself is the first level.
    root: nodeOf(value, 2, walk) ?? omitted("limit"),
    ...(context === undefined ? {} : { context: captureContext(context) }),
  });
};

interface Walk {
  readonly texts: TextBudget;
  /** Objects between the root and here; the same object elsewhere is no cycle. */
  readonly ancestors: Set<object>;
  nodes: number;
}

const omitted = (reason: OmissionReason): DiagnosticNode => ({ _tag: "Omitted", reason });

/** Below a node, at most a list, an entry of it and the omission that ends it. */
const maxNodeLevel = diagnosticLimits.maxLevels - 3;

/** `undefined` when no node is left, not even for an omission: the caller says that it was cut. */
const nodeOf = (value: unknown, level: number, walk: Walk): DiagnosticNode | undefined => {
  if (walk.nodes === 0) return undefined;
  walk.nodes -= 1;
  if (level > maxNodeLevel || walk.texts.isSpent()) return omitted("limit");
  try {
    if (typeof value === "object" && value !== null) return objectNode(value, level, walk);
    if (typeof value === "string") return textNode(value, walk);
    if (typeof value === "number" && !Number.isFinite(value)) return textNode(String(value), walk);
    if (typeof value === "number" || typeof value === "boolean" || value === null)
      return { _tag: "Scalar", value };
    return omitted("unsupported");
  } catch {
    // A proxy or a getter that throws where no field is read by name.
    return omitted("unsupported");
  }
};

const textNode = (value: string, walk: Walk): DiagnosticNode => {
  const kept = walk.texts.keep(value, diagnosticLimits.maxStringBytes);
  if (kept === undefined) return omitted("limit");
  return kept.truncated
    ? { _tag: "Text", text: kept.text, truncated: true }
    : { _tag: "Text", text: kept.text };
};

const objectNode = (value: object, level: number, walk: Walk): DiagnosticNode => {
  if (Redacted.isRedacted(value)) return omitted("redacted");
  if (walk.ancestors.has(value)) return omitted("cycle");
  walk.ancestors.add(value);
  try {
    return Cause.isCause(value) ? causeNode(value, level, walk) : failureNode(value, level, walk);
  } finally {
    walk.ancestors.delete(value);
  }
};

const causeNode = (cause: Cause.Cause<unknown>, level: number, walk: Walk): DiagnosticNode => {
  const reasons: Array<CauseReason> = [];
  for (const reason of cause.reasons.slice(0, diagnosticLimits.maxListLength)) {
    const kept = reasonOf(reason, level, walk);
    if (kept === undefined) break;
    reasons.push(kept);
  }
  return reasons.length < cause.reasons.length
    ? { _tag: "Cause", reasons, truncated: true }
    : { _tag: "Cause", reasons };
};

const reasonOf = (
  reason: Cause.Reason<unknown>,
  level: number,
  walk: Walk,
): CauseReason | undefined => {
  if (Cause.isInterruptReason(reason)) {
    return reason.fiberId === undefined
      ? { _tag: "Interrupt" }
      : { _tag: "Interrupt", fiberId: reason.fiberId };
  }
  // A list, an entry of it, and then the value.
  const value = nodeOf(Cause.isFailReason(reason) ? reason.error : reason.defect, level + 3, walk);
  if (value === undefined) return undefined;
  return Cause.isFailReason(reason)
    ? { _tag: "Fail", error: value }
    : { _tag: "Die", defect: value };
};

type Failure = Extract<DiagnosticNode, { readonly _tag: "Failure" }>;
type MutableFailure = { -readonly [Key in keyof Failure]: Failure[Key] };

const failureNode = (value: object, level: number, walk: Walk): DiagnosticNode => {
  const node: MutableFailure = { _tag: "Failure" };
  const omittedFields: Array<string> = [];
  const read = (field: string): unknown => {
    try {
      const found: unknown = Reflect.get(value, field);
      return found === null ? undefined : found;
    } catch {
      omittedFields.push(field);
      return undefined;
    }
  };
  const text = (field: string, found: unknown, maxBytes: number): string | undefined => {
    if (found === undefined) return undefined;
    const kept = typeof found === "string" ? walk.texts.keep(found, maxBytes) : undefined;
    if (kept === undefined) omittedFields.push(field);
    else if (kept.truncated) node.truncated = true;
    return kept?.text;
  };
  // The identity of a failure comes first, so that it is there when the budget ends.
  assign(node, "name", text("name", read("name"), diagnosticLimits.maxNameBytes));
  assign(node, "tag", text("_tag", read("_tag"), diagnosticLimits.maxNameBytes));
  const code = read("code");
  assign(
    node,
    "code",
    typeof code === "number" && Number.isFinite(code)
      ? code
      : text("code", code, diagnosticLimits.maxNameBytes),
  );
  assign(node, "message", text("message", read("message"), diagnosticLimits.maxStringBytes));
  const child = (found: unknown): DiagnosticNode | undefined => {
    const kept = nodeOf(found, level + 1, walk);
    if (kept === undefined) node.truncated = true;
    return kept;
  };
  const reason = read("reason");
  if (reason !== undefined) assign(node, "reason", child(reason));
  const cause = read("cause");
  // Some errors name their reason as their cause as well.
  if (cause !== undefined && cause !== reason) assign(node, "cause", child(cause));
  const errors = read("errors");
  if (Array.isArray(errors)) {
    const kept = listOf(errors, level, walk);
    node.errors = kept;
    if (kept.length < errors.length) node.truncated = true;
  } else if (errors !== undefined) omittedFields.push("errors");
  assign(node, "stack", text("stack", read("stack"), diagnosticLimits.maxStringBytes));
  if (omittedFields.length > 0)
    node.omittedFields = omittedFields.slice(0, diagnosticLimits.maxOmittedFieldNames);
  const excluded = excludedFields(value);
  if (excluded > 0) node.excludedFields = excluded;
  return node;
};

const assign = <Key extends keyof MutableFailure>(
  node: MutableFailure,
  key: Key,
  found: MutableFailure[Key] | undefined,
): void => {
  if (found !== undefined) node[key] = found;
};

const listOf = (
  values: ReadonlyArray<unknown>,
  level: number,
  walk: Walk,
): ReadonlyArray<DiagnosticNode> => {
  const nodes: Array<DiagnosticNode> = [];
  for (let index = 0; index < Math.min(values.length, diagnosticLimits.maxListLength); index++) {
    const node = nodeOf(readEntry(values, index), level + 2, walk);
    if (node === undefined) break;
    nodes.push(node);
  }
  return nodes;
};

/** A symbol stands for what cannot be read: it is captured as unsupported. */
const readEntry = (values: ReadonlyArray<unknown>, index: number): unknown => {
  try {
    return values[index];
  } catch {
    return Symbol("unreadable");
  }
};

const excludedFields = (value: object): number => {
  try {
    return Object.keys(value).filter((field) => !keptFields.has(field)).length;
  } catch {
    return 0;
  }
};
