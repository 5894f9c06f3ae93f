/**
 * A proof pack: one run's records, approvals and audit rows as lines of JSON, one after the other, so that a
 * run of any length is written and checked in bounded memory. The last line carries the digest of all before.
 */
import * as Schema from "effect/Schema";
import { EpochMillis } from "#lib/contract/ids.ts";
import { Actor } from "#lib/contract/records.ts";
import { ApprovalState } from "#lib/contract/status.ts";
import { LinkSeal } from "./link-seal.ts";

/**
 * The version of this format; a later one may add lines and fields, never take one away. Since 2 a record of
 * another run carries its seal; in a pack of version 1 such a line is only what the file says.
 */
export const proofVersion = 2;

const Tail = Schema.Struct({ sequence: Schema.Int, digest: Schema.String });

/** The first line: what the file is about, and where both chains ended when it was made. */
export const ProofHeader = Schema.Struct({
  kind: Schema.Literal("proof"),
  version: Schema.Literals([1, proofVersion]),
  tenantId: Schema.String,
  threadId: Schema.String,
  runId: Schema.String,
  exportedAt: EpochMillis,
  exportedBy: Actor,
  threadTail: Tail,
  /** The run's own last record: the digest to note elsewhere, since the thread may have gone on without this run. */
  runTail: Schema.optionalKey(Tail),
  auditTail: Tail,
});
export type ProofHeader = typeof ProofHeader.Type;

const link = {
  sequence: Schema.Int,
  epoch: Schema.Int,
  digest: Schema.String,
  previousDigest: Schema.String,
};

/** A record of the run, its text exactly as stored and digested. */
export const ProofRecord = Schema.Struct({
  kind: Schema.Literal("record"),
  ...link,
  recordedAt: EpochMillis,
  body: Schema.String,
});

/**
 * A record of another run of the same thread, without what it says: only what joins the chain. With the seal its
 * digest can be made again, so nothing before it can be changed while what follows it stays true.
 */
export const ProofLink = Schema.Struct({
  kind: Schema.Literal("link"),
  ...link,
  seal: Schema.optionalKey(LinkSeal),
});

/** An approval request as people answered it. */
export const ProofApproval = Schema.Struct({
  kind: Schema.Literal("approval"),
  requestId: Schema.String,
  turn: Schema.Int,
  callId: Schema.String,
  toolName: Schema.String,
  state: ApprovalState,
  parametersDigest: Schema.String,
  approversRequired: Schema.Int,
  decidedBy: Schema.NullOr(Actor),
  decidedAt: Schema.NullOr(EpochMillis),
  approvers: Schema.Array(
    Schema.Struct({
      operatorId: Schema.String,
      name: Schema.String,
      decision: Schema.String,
      parametersDigest: Schema.String,
      at: EpochMillis,
    }),
  ),
});
export type ProofApproval = typeof ProofApproval.Type;

/** An audit row about the run, with its own digest; rows between them may be about other runs. */
export const ProofAudit = Schema.Struct({
  kind: Schema.Literal("audit"),
  sequence: Schema.Int,
  at: EpochMillis,
  actor: Actor,
  verb: Schema.String,
  target: Schema.String,
  runId: Schema.NullOr(Schema.String),
  accepted: Schema.Boolean,
  reason: Schema.String,
  /** Canonical JSON text, as stored. */
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String),
  commandId: Schema.NullOr(Schema.String),
  digest: Schema.String,
  previousDigest: Schema.String,
});
export type ProofAudit = typeof ProofAudit.Type;

/** The last line: how many lines stand before it, and the SHA-256 of their text, each with its line feed. */
export const ProofEnd = Schema.Struct({
  kind: Schema.Literal("end"),
  lines: Schema.Int,
  digest: Schema.String,
});

export const ProofLine = Schema.Union([
  ProofHeader,
  ProofRecord,
  ProofLink,
  ProofApproval,
  ProofAudit,
  ProofEnd,
]);
export type ProofLine = typeof ProofLine.Type;
