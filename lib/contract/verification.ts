/** What a check of stored records found. */
import * as Schema from "effect/Schema";
import { EpochMillis, ThreadId } from "./ids.ts";

/** One way in which what is stored does not hold; `expected` and `seen` are bounded texts for people. */
export const JournalFaultView = Schema.Struct({
  kind: Schema.Literals([
    "gap",
    "previous-digest",
    "epoch",
    "digest",
    "unreadable",
    "column",
    "batch",
    "second-opening",
    "second-settlement",
    "tail",
    "orphan",
    "result",
    "projection",
    "audit",
    "archive",
  ]),
  /** The thread; of an audit fault the tenant, of an archive fault the file. */
  where: Schema.String,
  /** Null where the fault is of no single record. */
  sequence: Schema.NullOr(Schema.Int),
  expected: Schema.String,
  seen: Schema.String,
});
export type JournalFaultView = typeof JournalFaultView.Type;

/** A thread's check: nothing was repaired, and no fault means that chain, head, settlements and tables agree. */
export const JournalVerification = Schema.Struct({
  threadId: ThreadId,
  records: Schema.Int,
  /** At most 1,000. */
  faults: Schema.Array(JournalFaultView),
  /** The server's clock when the check ended. */
  verifiedAt: EpochMillis,
});
export type JournalVerification = typeof JournalVerification.Type;
