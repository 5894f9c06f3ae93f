import * as Schema from "effect/Schema";
import { Digest, Epoch } from "../contract/ids.ts";

/**
 * The store could not answer. `retryable` says that the transition is safe to
 * try again as it is (serialization failure, deadlock, lost connection, full
 * pool): it happened whole or not at all, and the transitions are made so that
 * asking again changes nothing twice (PG-02, PG-08).
 */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  operation: Schema.String,
  message: Schema.String,
  retryable: Schema.Boolean,
  cause: Schema.optionalKey(Schema.Defect()),
}) {}

/** A newer owner holds the thread: nothing was written and nothing may be (DU-13). */
export class FenceRejected extends Schema.TaggedError<FenceRejected>()("FenceRejected", {
  threadId: Schema.String,
  epoch: Epoch,
  currentEpoch: Epoch,
}) {
  override get message() {
    return `Thread ${this.threadId} is owned by epoch ${this.currentEpoch}; epoch ${this.epoch} may not write any more.`;
  }
}

/** The thread's tail is not where the writer believed it was (PG-02). */
export class JournalTailConflict extends Schema.TaggedError<JournalTailConflict>()(
  "JournalTailConflict",
  {
    threadId: Schema.String,
    expectedSequence: Schema.Int,
    actualSequence: Schema.Int,
    actualDigest: Schema.String,
  },
) {
  override get message() {
    return `Thread ${this.threadId} ends at record ${this.actualSequence}, not at ${this.expectedSequence}.`;
  }
}

/** The batch id was used before for other records (PG-02). */
export class JournalBatchConflict extends Schema.TaggedError<JournalBatchConflict>()(
  "JournalBatchConflict",
  { threadId: Schema.String, batchId: Schema.String },
) {
  override get message() {
    return `Batch ${this.batchId} of thread ${this.threadId} was written before with other records.`;
  }
}

/**
 * Somebody said something after the run's writer last looked, and it comes first:
 * asked to end the run, which may then not be settled as completed or failed
 * (DU-12), or answered an effect in doubt, which no rule may then answer (DU-07).
 * Nothing was written. The tail and the epoch are still the writer's.
 */
export class AbortPending extends Schema.TaggedError<AbortPending>()("AbortPending", {
  threadId: Schema.String,
  runId: Schema.String,
}) {
  override get message() {
    return `Somebody asked run ${this.runId} to end, or answered an effect in doubt of it, a moment before; that must be recorded first.`;
  }
}

/** Stored evidence contradicts itself; recovery refuses to act on it (F-08). */
export class EvidenceCorrupt extends Schema.TaggedError<EvidenceCorrupt>()("EvidenceCorrupt", {
  threadId: Schema.String,
  sequence: Schema.optionalKey(Schema.Int),
  digest: Schema.optionalKey(Digest),
  message: Schema.String,
}) {}
