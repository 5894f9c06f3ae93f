/**
 * What an approval request says. Computed by host code from decoded parameters
 * when the call is gated, stored as it is, and shown to people unchanged (`A-02`).
 */
import * as Schema from "effect/Schema";
import {
  AgentId,
  ApprovalRequestId,
  Digest,
  EpochMillis,
  RunId,
  SubmissionId,
  ThreadId,
  ToolCallId,
} from "./ids.ts";
import { utf8ByteLength } from "./json/utf8.ts";
import { Risk } from "./status.ts";

/** Bounds of one request (`A-02`); bytes are UTF-8. */
export const approvalLimits = {
  maxTargets: 32,
  maxTargetBytes: 2_048,
  maxTargetsBytes: 65_536,
  maxSummaryBytes: 2_048,
  maxPreviewBytes: 8_192,
  maxPreviewDepth: 16,
  maxPreviewNodes: 4_096,
  /** A person's reason goes to the model in the denied call's result (`A-06`). */
  maxReasonBytes: 8_192,
  /** Arguments that a denial suggests, as JSON text; they go to the model with the reason. */
  maxSuggestionBytes: 8_192,
} as const;

const atMostBytes = (maxBytes: number) =>
  Schema.makeFilter<string>((text) => text.length <= maxBytes && utf8ByteLength(text) <= maxBytes, {
    expected: `text of at most ${maxBytes} UTF-8 bytes`,
  });

/** One normalised resource the call would act on (`A-03`). */
export const ApprovalTarget = Schema.Struct({
  kind: Schema.NonEmptyString.check(atMostBytes(256)),
  id: Schema.NonEmptyString.check(atMostBytes(approvalLimits.maxTargetBytes - 256)),
});
export type ApprovalTarget = typeof ApprovalTarget.Type;

/** What a denial or an expiry does to the run (`A-06`, `A-07`). */
export const DenialRule = Schema.Literals(["recoverable", "terminal"]);
export type DenialRule = typeof DenialRule.Type;

/** When a request stops being answerable; `"never"` only where a tool says so (`A-07`). */
export const ApprovalExpiry = Schema.Union([EpochMillis, Schema.Literal("never")]);
export type ApprovalExpiry = typeof ApprovalExpiry.Type;

/**
 * Characters in the parameters that hide, reorder or imitate others, so that a
 * screen can warn before anyone reads (C054).
 */
export const HiddenCharacters = Schema.Struct({
  /** Distinct characters, in order of first appearance, at most 16. */
  characters: Schema.Array(Schema.Struct({ codePoint: Schema.Int, name: Schema.String })).check(
    Schema.isMaxLength(16),
  ),
  /** Where they stand, e.g. `$.note`; at most 16 places. */
  places: Schema.Array(Schema.String).check(Schema.isMaxLength(16)),
  /** There was too much unusual text to look at all of it: nobody may take the rest for clean. */
  incomplete: Schema.optionalKey(Schema.Literal(true)),
});
export type HiddenCharacters = typeof HiddenCharacters.Type;

/** One approval request, whole (`A-02`). It covers exactly one call with exactly these parameters (`A-12`). */
export const ApprovalRequestContent = Schema.Struct({
  requestId: ApprovalRequestId,
  agentId: AgentId,
  threadId: ThreadId,
  runId: RunId,
  submissionId: Schema.optionalKey(SubmissionId),
  /** Id of the turn that declared the call. */
  turnId: Schema.String,
  /** 1 for the first turn of the run. */
  turnNumber: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  /** Encoded arguments exactly as the model wrote them. */
  parameters: Schema.Json,
  /** The same after decoding, in the tool's own encoding with defaults filled in: what will run. */
  effectiveParameters: Schema.Json,
  /** The declared call's digest of its parameters; a decision names it (`A-09`). */
  parametersDigest: Digest,
  targets: Schema.Array(ApprovalTarget).check(Schema.isMaxLength(approvalLimits.maxTargets)),
  /** Redacted view of the parameters; their structure only, where the tool has no redactor (`A-04`). */
  preview: Schema.Json,
  /** Whether `preview` is the default structure or what the tool's redactor reveals. */
  previewSource: Schema.Literals(["structure", "tool"]),
  summary: Schema.NonEmptyString.check(atMostBytes(approvalLimits.maxSummaryBytes)),
  risk: Risk,
  denial: DenialRule,
  requestedAt: EpochMillis,
  expiresAt: ApprovalExpiry,
  /** Who started the run; absent when nobody is known. */
  requester: Schema.optionalKey(Schema.String),
  approversRequired: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  selfApproval: Schema.Boolean,
  hiddenCharacters: Schema.optionalKey(HiddenCharacters),
});
export type ApprovalRequestContent = typeof ApprovalRequestContent.Type;

/**
 * What the host would judge the call by if it were approved now: everything around the arguments that can
 * change while a person reads. A screen sends back the one it showed, and an approval is refused where any
 * of it is different by then.
 */
export const ApprovalBasis = Schema.Struct({
  /** Digest of the tool's contract as registered now; null where it is not registered any more. */
  toolDigest: Schema.NullOr(Digest),
  /** Digest of the agent's definition as registered now; null where it is not registered any more. */
  definitionDigest: Schema.NullOr(Digest),
  /** The tool's rule for approvals as registered now, in words. */
  approvalRule: Schema.String.check(Schema.isMaxLength(200)),
  /** Whether a policy is asked before the call runs. */
  authorization: Schema.Literals(["asked", "none"]),
  /** Whether this run may see the tool now; `not-told`: its filter did not answer. */
  visibility: Schema.Literals(["visible", "hidden", "not-told"]),
  /** Calls that the run may still declare. */
  callsLeft: Schema.Int,
  /** When the request stops being answerable; null: never. */
  expiresAt: Schema.NullOr(EpochMillis),
});
export type ApprovalBasis = typeof ApprovalBasis.Type;

/** One part of the basis that is not what it was; both sides in words. */
export const BasisChange = Schema.Struct({
  part: Schema.Literals([
    "toolDigest",
    "definitionDigest",
    "approvalRule",
    "authorization",
    "visibility",
    "callsLeft",
    "expiresAt",
  ]),
  before: Schema.String,
  now: Schema.String,
});
export type BasisChange = typeof BasisChange.Type;
