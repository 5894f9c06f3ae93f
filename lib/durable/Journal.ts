/**
 * One append-only, hash-chained list of records per thread (PG-02). The port
 * promises: an append lands whole or not at all; only the current epoch at the
 * current tail can append; the same batch id with the same records answers as
 * it did the first time while its epoch is the current one, with other records
 * it is refused. Projections and
 * events that follow from the records become visible in the same transaction.
 */
import type * as Effect from "effect/Effect";
import * as Context from "effect/Context";
import type { RunEvent } from "../contract/events.ts";
import type {
  AgentId,
  DiagnosticId,
  Digest,
  ResultId,
  RunId,
  TenantId,
  ThreadId,
} from "../contract/ids.ts";
import type { Json } from "../contract/json/json.ts";
import type { RunRecord, StoredRecord } from "../contract/records.ts";
import type { ResultToKeep } from "../results/kept-text.ts";
import type {
  AbortPending,
  FenceRejected,
  JournalBatchConflict,
  JournalTailConflict,
  StoreError,
} from "./StoreError.ts";

/** The last record of a thread; sequence 0 and 64 zeros for an empty one. */
export interface JournalTail {
  readonly sequence: number;
  readonly digest: Digest;
}

/** A diagnostic that is stored in the same transaction as the record that names it. */
export interface DiagnosticToStore {
  readonly diagnosticId: DiagnosticId;
  readonly fingerprint: string;
  readonly title: string;
  readonly toolName: string | null;
  readonly callId: string | null;
  /** Encoded `FailureDiagnostic`. */
  readonly encoded: Json;
}

export interface AppendRequest {
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly epoch: number;
  readonly expectedTail: JournalTail;
  /** Chosen by the writer once per append, kept for every retry of it. */
  readonly batchId: string;
  /** May be empty when only soft events are flushed; the epoch is checked all the same. */
  readonly records: ReadonlyArray<RunRecord>;
  /** Events that no record carries (a readonly call started, progress), in order, before the records' own. */
  readonly events: ReadonlyArray<{ readonly event: RunEvent; readonly at: number }>;
  readonly diagnostics: ReadonlyArray<DiagnosticToStore>;
  /** Whole texts of results whose records name them, stored with the records or not at all. */
  readonly results?: ReadonlyArray<ResultToKeep>;
  /**
   * The claim told of no lost attempt (`Claim.lostAttempts` is 0), and nobody else counts one while it is the
   * current one: that the run came further starts no count again, and the store need not look.
   */
  readonly nothingLost?: boolean;
}

export interface AppendReceipt {
  readonly tail: JournalTail;
  /** True when the batch had been written before and its reply was lost. */
  readonly replayed: boolean;
  /** Database clock of the append. */
  readonly recordedAt: number;
}

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * A run is settled as completed or failed only while no abort of it waits to be
     * delivered: `AbortPending` otherwise, unless the batch itself delivers it. The
     * same for a rule's resolution of a doubt that somebody else has answered.
     */
    readonly append: (
      request: AppendRequest,
    ) => Effect.Effect<
      AppendReceipt,
      AbortPending | FenceRejected | JournalTailConflict | JournalBatchConflict | StoreError
    >;
    /** A text that was kept with a record of this run; undefined when there is none. */
    readonly keptResult: (request: {
      readonly tenantId: TenantId;
      readonly runId: RunId;
      readonly resultId: ResultId;
    }) => Effect.Effect<string | undefined, StoreError>;
    /** Records after `after`, at most `limit` (1 to 10,000), in sequence. */
    readonly read: (request: {
      readonly tenantId: TenantId;
      readonly threadId: ThreadId;
      readonly runId?: RunId;
      readonly after: number;
      readonly limit: number;
    }) => Effect.Effect<ReadonlyArray<StoredRecord>, StoreError>;
  }
>()("effect-agent/durable/Journal") {}
