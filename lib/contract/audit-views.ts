/** What operators did. */
import * as Schema from "effect/Schema";
import { Digest, EpochMillis, RunId, Sequence } from "./ids.ts";
import { Actor } from "./records.ts";

export const AuditView = Schema.Struct({
  sequence: Schema.Int,
  at: EpochMillis,
  actor: Actor,
  verb: Schema.String,
  target: Schema.String,
  runId: Schema.NullOr(RunId),
  accepted: Schema.Boolean,
  reason: Schema.String,
  before: Schema.NullOr(Schema.Json),
  after: Schema.NullOr(Schema.Json),
  commandId: Schema.NullOr(Schema.String),
  digest: Digest,
  previousDigest: Digest,
  /** The event that the act led to, where the log has it: what was there before it is one event earlier. */
  moment: Schema.optionalKey(Sequence),
});
export type AuditView = typeof AuditView.Type;
