/**
 * Branded identifiers of every noun in the system. Each is opaque text; none is
 * made by joining parts with a separator, so no id can be forged by choosing a
 * part that contains one. Ids that follow from others are digests (see
 * `lib/durable/derived-ids.ts`).
 */
import * as Schema from "effect/Schema";

/** Text of 1 to 128 characters from `[A-Za-z0-9._~-]`, starting with a letter or digit. */
const opaqueId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/, {
    description: "1 to 128 characters from A-Z a-z 0-9 . _ ~ -, starting with a letter or digit",
  }),
);

/** One customer of the installation; on every row and in every query (PG-05). */
export const TenantId = opaqueId.pipe(Schema.brand("TenantId"));
export type TenantId = typeof TenantId.Type;

/** A person (or a token acting for one) who uses the console or the API. */
export const OperatorId = opaqueId.pipe(Schema.brand("OperatorId"));
export type OperatorId = typeof OperatorId.Type;

/** The registered name of an agent definition. */
export const AgentId = opaqueId.pipe(Schema.brand("AgentId"));
export type AgentId = typeof AgentId.Type;

/** Ordered history shared by runs. */
export const ThreadId = opaqueId.pipe(Schema.brand("ThreadId"));
export type ThreadId = typeof ThreadId.Type;

/** One request interpreted to one terminal outcome. */
export const RunId = opaqueId.pipe(Schema.brand("RunId"));
export type RunId = typeof RunId.Type;

/** Durably accepted input; owes exactly one settlement (DU-10). */
export const SubmissionId = opaqueId.pipe(Schema.brand("SubmissionId"));
export type SubmissionId = typeof SubmissionId.Type;

/** One approval request; a digest of (tenant, run, turn, call). */
export const ApprovalRequestId = opaqueId.pipe(Schema.brand("ApprovalRequestId"));
export type ApprovalRequestId = typeof ApprovalRequestId.Type;

/** One effect in doubt; a digest of (tenant, run, turn, call). */
export const UnknownId = opaqueId.pipe(Schema.brand("UnknownId"));
export type UnknownId = typeof UnknownId.Type;

/** One question to a destination about an effect in doubt. */
export const ProbeId = opaqueId.pipe(Schema.brand("ProbeId"));
export type ProbeId = typeof ProbeId.Type;

/** Names the whole text of one call's result, which is kept beside its bounded copy. */
export const ResultId = opaqueId.pipe(Schema.brand("ResultId"));
export type ResultId = typeof ResultId.Type;

/** One policy denial or authorization check error; a digest of (tenant, run, turn, call, kind). */
export const DenialId = opaqueId.pipe(Schema.brand("DenialId"));
export type DenialId = typeof DenialId.Type;

/** Private failure evidence of one failure (DX-06). */
export const DiagnosticId = opaqueId.pipe(Schema.brand("DiagnosticId"));
export type DiagnosticId = typeof DiagnosticId.Type;

/** Made by the client for each command, so that a repeated request acts once (OP-09). */
export const CommandId = opaqueId.pipe(Schema.brand("CommandId"));
export type CommandId = typeof CommandId.Type;

/** One process that drives threads. */
export const WorkerId = opaqueId.pipe(Schema.brand("WorkerId"));
export type WorkerId = typeof WorkerId.Type;

/**
 * A tool-call id as the model wrote it: untrusted, so its form is bounded before
 * anything is correlated by it (T-17). It is unique only within its response.
 */
export const ToolCallId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, {
    description: "1 to 128 characters from A-Z a-z 0-9 . _ : -, starting with a letter or digit",
  }),
).pipe(Schema.brand("ToolCallId"));
export type ToolCallId = typeof ToolCallId.Type;

/** SHA-256 in lower-case hexadecimal. */
export const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).pipe(
  Schema.brand("Digest"),
);
export type Digest = typeof Digest.Type;

/** Position in a thread's journal or a tenant's event log; starts at 1. */
export const Sequence = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));
export type Sequence = typeof Sequence.Type;

/** Ownership number of a thread; only its holder can write (DU-13). */
export const Epoch = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));
export type Epoch = typeof Epoch.Type;

/** Milliseconds since 1970-01-01T00:00:00Z, from the database's clock in durable runs. */
export const EpochMillis = Schema.Int;
export type EpochMillis = typeof EpochMillis.Type;
