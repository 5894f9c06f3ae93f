/**
 * Private evidence of a failure, as it is stored and shown to operators. It keeps
 * what explains a failure and nothing else, and every place where something was
 * left out or cut says so (`DX-02`, `DX-04`).
 */
import * as Schema from "effect/Schema";

/** Why something is missing: hidden on purpose, already shown above, over a bound, or not readable. */
export const OmissionReason = Schema.Literals(["redacted", "cycle", "limit", "unsupported"]);
export type OmissionReason = typeof OmissionReason.Type;

/** A failure value or a part of one. */
export type DiagnosticNode =
  | {
      readonly _tag: "Failure";
      /** The error's class name. */
      readonly name?: string;
      /** Its `_tag`. */
      readonly tag?: string;
      readonly message?: string;
      readonly code?: string | number;
      readonly reason?: DiagnosticNode;
      readonly stack?: string;
      readonly cause?: DiagnosticNode;
      readonly errors?: ReadonlyArray<DiagnosticNode>;
      /** Names of the fields above that were there and could not be kept. */
      readonly omittedFields?: ReadonlyArray<string>;
      /** How many other fields the value had; neither their names nor their values are kept. */
      readonly excludedFields?: number;
      /** A text was shortened or a list was cut. */
      readonly truncated?: true;
    }
  | { readonly _tag: "Text"; readonly text: string; readonly truncated?: true }
  | { readonly _tag: "Scalar"; readonly value: number | boolean | null }
  | {
      readonly _tag: "Cause";
      /** In the order in which they happened. */
      readonly reasons: ReadonlyArray<CauseReason>;
      readonly truncated?: true;
    }
  | { readonly _tag: "Omitted"; readonly reason: OmissionReason };

/** One reason of an Effect cause. */
export type CauseReason =
  | { readonly _tag: "Fail"; readonly error: DiagnosticNode }
  | { readonly _tag: "Die"; readonly defect: DiagnosticNode }
  | { readonly _tag: "Interrupt"; readonly fiberId?: number };

const node = Schema.suspend((): Schema.Codec<DiagnosticNode> => DiagnosticNode);
const truncated = Schema.optionalKey(Schema.Literal(true));

const CauseReason: Schema.Codec<CauseReason> = Schema.Union([
  Schema.TaggedStruct("Fail", { error: node }),
  Schema.TaggedStruct("Die", { defect: node }),
  Schema.TaggedStruct("Interrupt", { fiberId: Schema.optionalKey(Schema.Int) }),
]);

export const DiagnosticNode: Schema.Codec<DiagnosticNode> = Schema.Union([
  Schema.TaggedStruct("Failure", {
    name: Schema.optionalKey(Schema.String),
    tag: Schema.optionalKey(Schema.String),
    message: Schema.optionalKey(Schema.String),
    code: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
    reason: Schema.optionalKey(node),
    stack: Schema.optionalKey(Schema.String),
    cause: Schema.optionalKey(node),
    errors: Schema.optionalKey(Schema.Array(node)),
    omittedFields: Schema.optionalKey(Schema.Array(Schema.String)),
    excludedFields: Schema.optionalKey(Schema.Int),
    truncated,
  }),
  Schema.TaggedStruct("Text", { text: Schema.String, truncated }),
  Schema.TaggedStruct("Scalar", {
    value: Schema.Union([Schema.Finite, Schema.Boolean, Schema.Null]),
  }),
  Schema.TaggedStruct("Cause", { reasons: Schema.Array(CauseReason), truncated }),
  Schema.TaggedStruct("Omitted", { reason: OmissionReason }),
]);

/** Bounded copies of the identities a failure belongs to (`DX-05`); the originals are in their records. */
export const DiagnosticContext = Schema.Struct({
  agent: Schema.optionalKey(Schema.String),
  thread: Schema.optionalKey(Schema.String),
  run: Schema.optionalKey(Schema.String),
  submission: Schema.optionalKey(Schema.String),
  attempt: Schema.optionalKey(Schema.String),
  turn: Schema.optionalKey(Schema.String),
  toolCall: Schema.optionalKey(Schema.String),
  tool: Schema.optionalKey(Schema.String),
  check: Schema.optionalKey(Schema.String),
  operation: Schema.optionalKey(Schema.String),
});
export type DiagnosticContext = typeof DiagnosticContext.Type;

/** One captured failure. */
export const CapturedDiagnostic = Schema.TaggedStruct("FailureDiagnostic", {
  version: Schema.Literal(1),
  root: DiagnosticNode,
  context: Schema.optionalKey(DiagnosticContext),
});
export type CapturedDiagnostic = typeof CapturedDiagnostic.Type;
