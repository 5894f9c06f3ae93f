/** What operators and clients may ask for. Every command carries a client-made id (OP-09). */
import * as Schema from "effect/Schema";
import { ApprovalBasis, approvalLimits } from "./approval.ts";
import { AgentId, CommandId, Digest, RunId, SubmissionId, ThreadId } from "./ids.ts";
import { ResolutionKind } from "./status.ts";

const text = (maxLength: number) => Schema.String.check(Schema.isMaxLength(maxLength));
const requiredText = (maxLength: number) =>
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(maxLength), Schema.isPattern(/\S/));

/** Reasons and notes: 1 to 2,000 characters. */
export const Reason = requiredText(2_000);
/** Where the operator looked: 1 to 4,000 characters. */
export const Evidence = requiredText(4_000);
/** 8 to 200 visible ASCII characters, chosen by the client. */
export const IdempotencyKey = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{8,200}$/));

/** Input for an agent; `threadId` continues an existing thread. Input is at most 64 KiB of JSON. */
export const SubmitInput = Schema.Struct({
  agentId: AgentId,
  threadId: Schema.optionalKey(ThreadId),
  input: Schema.Json,
});
export type SubmitInput = typeof SubmitInput.Type;

/** Given only after the submission is durably admitted (DU-11). */
export const SubmissionReceipt = Schema.Struct({
  submissionId: SubmissionId,
  runId: RunId,
  threadId: ThreadId,
  queueSequence: Schema.Int,
});
export type SubmissionReceipt = typeof SubmissionReceipt.Type;

/** `parametersDigest` is the digest of what the operator saw. A denial needs a reason. */
export const DecideApproval = Schema.Struct({
  commandId: CommandId,
  decision: Schema.Literals(["approved", "denied"]),
  parametersDigest: Digest,
  reason: text(2_000),
  /**
   * Other arguments for the same tool, with a denial only: JSON text, because a number must reach the
   * tool's schema as it was typed. The model is told of them; what ran or runs never changes by them.
   */
  suggestion: Schema.optionalKey(requiredText(approvalLimits.maxSuggestionBytes)),
  /** What the screen showed around the arguments; an approval is refused where it is different by now. */
  basis: Schema.optionalKey(ApprovalBasis),
});
export type DecideApproval = typeof DecideApproval.Type;

/** Says that somebody reads a request now, or stops; never a claim on it. */
export const LookAtApproval = Schema.Struct({ looking: Schema.Boolean });
export type LookAtApproval = typeof LookAtApproval.Type;

/** Moves the expiry to `seconds` from now: 60 s to 30 days. */
export const ExtendApproval = Schema.Struct({
  commandId: CommandId,
  seconds: Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 2_592_000 })),
  reason: Reason,
});
export type ExtendApproval = typeof ExtendApproval.Type;

/** `result` is checked against the tool's schema before it is accepted (DU-07). */
export const ResolveUnknown = Schema.Struct({
  commandId: CommandId,
  resolution: ResolutionKind,
  result: Schema.optionalKey(Schema.Json),
  isFailure: Schema.optionalKey(Schema.Boolean),
  parametersDigest: Digest,
  reason: Reason,
  evidence: Evidence,
});
export type ResolveUnknown = typeof ResolveUnknown.Type;

export const AbortRun = Schema.Struct({ commandId: CommandId, reason: Reason });
export type AbortRun = typeof AbortRun.Type;

/** Asks the tool's probe about an effect in doubt, now. */
export const ProbeUnknown = Schema.Struct({ commandId: CommandId });
export type ProbeUnknown = typeof ProbeUnknown.Type;

/** Makes a run that waits for its next attempt due now. */
export const WakeRun = Schema.Struct({ commandId: CommandId, reason: Reason });
export type WakeRun = typeof WakeRun.Type;

/** A new attempt for a run that keeps failing, or a new submission for one that was given up. */
export const RetryRun = Schema.Struct({ commandId: CommandId, reason: Reason });
export type RetryRun = typeof RetryRun.Type;

/** Asks for a run's proof pack; the export itself is audited. */
export const ExportProof = Schema.Struct({ commandId: CommandId });
export type ExportProof = typeof ExportProof.Type;

export const AcknowledgeDenial = Schema.Struct({ commandId: CommandId, note: Reason });
export type AcknowledgeDenial = typeof AcknowledgeDenial.Type;

/** One of: the one-time link's token, or name and password. */
export const SignIn = Schema.Union([
  Schema.Struct({ token: Schema.String.check(Schema.isMaxLength(200)) }),
  Schema.Struct({
    email: Schema.String.check(Schema.isMaxLength(320)),
    password: Schema.String.check(Schema.isMaxLength(1_024)),
  }),
]);
export type SignIn = typeof SignIn.Type;

/** 12 to 1,024 characters. */
export const SetPassword = Schema.Struct({
  password: Schema.String.check(Schema.isMinLength(12), Schema.isMaxLength(1_024)),
});
export type SetPassword = typeof SetPassword.Type;
