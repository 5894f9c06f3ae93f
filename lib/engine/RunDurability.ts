/**
 * What makes a run durable, as a service. The interpreter is the same for every
 * run; only this differs: the ephemeral layer keeps facts in memory, the durable
 * one appends them to the thread's journal under its epoch.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import type { RunEvent } from "#lib/contract/events.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import type { ResultId } from "#lib/contract/ids.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import type {
  AbortPending,
  FenceRejected,
  JournalBatchConflict,
  JournalTailConflict,
  StoreError,
} from "#lib/durable/StoreError.ts";
import type { ResultToKeep } from "#lib/results/kept-text.ts";

/** The attempt ends for a passing reason outside the run, and a later one goes on: nothing is settled. */
export class AttemptPostponed extends Schema.TaggedError<AttemptPostponed>()("AttemptPostponed", {
  reason: Schema.String,
}) {
  override get message() {
    return this.reason;
  }
}

/** Why an attempt stops where it is and settles nothing: facts could not be kept, or it is too early to go on. */
export type DurabilityError =
  | AbortPending
  | FenceRejected
  | JournalTailConflict
  | JournalBatchConflict
  | StoreError
  | AttemptPostponed;

/**
 * Where the interpreter keeps its facts, and where it learns what people decided. In
 * memory or through a journal; the interpreter does not know which (DU-17). Every
 * method that writes fails typed when the run belongs to another process by now.
 */
export class RunDurability extends Context.Service<
  RunDurability,
  {
    /**
     * Keeps the facts, all or none, before it returns, and with them the whole texts
     * of results that they name. Facts recorded by several calls at once are grouped.
     */
    readonly record: (
      records: ReadonlyArray<RunRecord>,
      diagnostics?: ReadonlyArray<DiagnosticToStore>,
      results?: ReadonlyArray<ResultToKeep>,
    ) => Effect.Effect<void, DurabilityError>;
    /**
     * Keeps the facts before any that are recorded after them, and may return before
     * they are kept: whoever needs to know waits for a later `record`, which fails
     * when these could not be kept. Fails itself once something earlier could not. A result goes this way, so that it and the
     * preparation of the next call can be one append (DU-03).
     */
    readonly recordSoon: (
      records: ReadonlyArray<RunRecord>,
      diagnostics?: ReadonlyArray<DiagnosticToStore>,
      results?: ReadonlyArray<ResultToKeep>,
    ) => Effect.Effect<void, DurabilityError>;
    /**
     * A text that was kept with a fact of this run, as it was given; undefined when
     * there is none. Absent: this host keeps no texts, and no fact names one.
     */
    readonly keptResult?: (
      resultId: ResultId,
    ) => Effect.Effect<ResultToKeep | undefined, DurabilityError>;
    /** Shows something that no fact carries; may be shown late or merged, never waits for a reader. */
    readonly emit: (event: RunEvent) => Effect.Effect<void>;
    /**
     * Answers that are already there for these requests. Ephemeral: what the
     * approval resolver says. Durable: none, since people decide after the
     * attempt has let go.
     */
    readonly answers: (
      requests: ReadonlyArray<RecordOf<"ApprovalRequested">>,
    ) => Effect.Effect<ReadonlyArray<RecordOf<"ApprovalDecided">>, DurabilityError>;
    /**
     * Told what a request exposes before it is sent, so that a host of its own can
     * stage it; the same snapshot comes again with the response's record.
     */
    readonly noteToolExposure: (turn: number, exposure: ExposureSnapshot) => Effect.Effect<void>;
    /** True where a passing failure of the model ends the attempt in place of the run. */
    readonly postponesPassing: boolean;
    /** Milliseconds since 1970: the database's clock in a durable run, the runtime's otherwise. */
    readonly now: Effect.Effect<number>;
  }
>()("effect-agent/engine/RunDurability") {}
