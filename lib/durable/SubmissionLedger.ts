/**
 * Which input was accepted, who owns it now, and whether its one settlement is
 * written (DU-10, DU-11, DU-15). The ledger never executes anything.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type * as Option from "effect/Option";
import type { IdempotencyConflict, NotFound, RunAlreadySettled } from "../contract/errors.ts";
import type {
  AgentId,
  RunId,
  SubmissionId,
  TenantId,
  ThreadId,
  WorkerId,
} from "../contract/ids.ts";
import type { Json } from "../contract/json/json.ts";
import type { Actor, RecordOf, RunRecord, StoredRecord } from "../contract/records.ts";
import type { SubmissionReceipt } from "../contract/commands.ts";
import type { RunState } from "../contract/status.ts";
import type { JournalTail } from "./Journal.ts";
import type { StoreError } from "./StoreError.ts";

export interface AdmitRequest {
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
  /** Absent: a new thread. Present: the submission queues behind the thread's others. */
  readonly threadId: ThreadId | undefined;
  readonly principal: Actor;
  readonly idempotencyKey: string;
  readonly input: Json;
  /** First line of the input for lists, at most 200 characters. */
  readonly title: string;
  /** Whether an effect in doubt holds the thread's queue (DU-15); absent: `park`, it does not. */
  readonly unknownPolicy?: "park" | "block";
}

/** What a driver needs to go on with the head of a thread. */
export interface Claim {
  readonly tenantId: TenantId;
  readonly threadId: ThreadId;
  readonly agentId: AgentId;
  readonly submissionId: SubmissionId;
  readonly runId: RunId;
  /** This owner's number; every later owner's is higher (DU-13). */
  readonly epoch: number;
  readonly tail: JournalTail;
  readonly input: Json;
  readonly requester: Actor;
  /** Every record of this run so far, in sequence. */
  readonly records: ReadonlyArray<StoredRecord>;
  /**
   * Earlier runs of the thread, oldest first, at most 20 runs and 1 MiB of records:
   * settled ones, and those parked on an unknown outcome as far as they got (DU-15).
   */
  readonly history: ReadonlyArray<StoredRecord>;
  /**
   * Rows that people or the clock wrote for this run and that no record carries
   * yet, as the records that deliver them: approval decisions, resolutions, an
   * abort. Appending them marks the rows delivered.
   */
  readonly undelivered: ReadonlyArray<RunRecord>;
  /**
   * Claims before this one that ended neither suspended nor settled, in a row: a
   * recorded turn or result, or a wait for people, starts the count again. Claims
   * that were postponed without counting are none of them.
   */
  readonly lostAttempts: number;
}

export interface AbortAnswer {
  readonly threadId: ThreadId;
  /** Where the run was when it was asked to end. */
  readonly state: RunState;
  /** False when somebody had asked before. */
  readonly isFirst: boolean;
}

/** A submission that is to end before anything of it has happened. */
export interface AbortedBeforeStart {
  readonly submissionId: SubmissionId;
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly input: Json;
  readonly requester: Actor;
  readonly abort: RecordOf<"AbortRequested">;
}

export class SubmissionLedger extends Context.Service<
  SubmissionLedger,
  {
    /** Same key and payload: the same receipt. Same key, other payload: conflict (DU-11). */
    readonly admit: (
      request: AdmitRequest,
    ) => Effect.Effect<SubmissionReceipt, IdempotencyConflict | StoreError>;
    /**
     * Takes the lowest submission of the thread that can go on now and bumps the
     * thread's epoch in the same transaction; none when nothing is due. A
     * submission that waits for people is due once something undelivered
     * answers it. A parked unknown lets the next submission pass when the
     * agent's policy is `park` (DU-15).
     *
     * Fails without having claimed anything when the run's own records cannot be
     * read; the submission is then due again after a delay that grows each time.
     * Earlier runs that cannot be read are left out of the history.
     */
    readonly claim: (request: {
      readonly tenantId: TenantId;
      readonly threadId: ThreadId;
      readonly workerId: WorkerId;
    }) => Effect.Effect<Option.Option<Claim>, StoreError>;
    /** Rows written for a running run since its claim; what `Claim.undelivered` is at the start. */
    readonly undelivered: (request: {
      readonly tenantId: TenantId;
      readonly runId: RunId;
    }) => Effect.Effect<ReadonlyArray<RunRecord>, StoreError>;
    /**
     * Gives a claimed submission back, due again after the delay; nothing happens
     * when a newer owner has the thread. `counts` says whether the attempt was lost
     * (absent: true); false for what is not the run's fault, such as a hand-over.
     */
    readonly postpone: (request: {
      readonly tenantId: TenantId;
      readonly threadId: ThreadId;
      readonly submissionId: SubmissionId;
      readonly epoch: number;
      readonly delaySeconds: number;
      readonly reason: string;
      /** False: the claim was not this run's fault and is not counted as a lost attempt. Default true. */
      readonly counts?: boolean;
    }) => Effect.Effect<void, StoreError>;
    /** Threads with something due, oldest first, at most `limit` (1 to 1,000), of every tenant. */
    readonly due: (
      limit: number,
    ) => Effect.Effect<
      ReadonlyArray<{ readonly tenantId: TenantId; readonly threadId: ThreadId }>,
      StoreError
    >;
    /**
     * Asks a run to end: stored with its event, in the caller's transaction where there
     * is one, before anything is interrupted (DU-12). Whoever asks again changes
     * nothing: the first author and reason stay.
     */
    readonly abort: (request: {
      readonly tenantId: TenantId;
      readonly runId: RunId;
      readonly actor: Actor;
      readonly reason: string;
      readonly commandId: string | null;
    }) => Effect.Effect<AbortAnswer, NotFound | RunAlreadySettled | StoreError>;
    /**
     * Queued submissions of the thread that have no record and whose abort nobody has
     * delivered, in their order, at most 100: whoever owns the thread settles them in
     * passing, since no claim can reach them while it works (DU-12).
     */
    readonly abortedBeforeStart: (request: {
      readonly tenantId: TenantId;
      readonly threadId: ThreadId;
    }) => Effect.Effect<ReadonlyArray<AbortedBeforeStart>, StoreError>;
    /** Registers this process and says that it is alive; at most every 2 s. */
    readonly heartbeat: (request: {
      readonly workerId: WorkerId;
      readonly address: string;
    }) => Effect.Effect<void, StoreError>;
    /**
     * Says that this process ends: what it still held is due at once, not only when
     * it has been silent. Last of all; a heartbeat after it says the opposite.
     */
    readonly retire: (request: { readonly workerId: WorkerId }) => Effect.Effect<void, StoreError>;
  }
>()("effect-agent/durable/SubmissionLedger") {}
