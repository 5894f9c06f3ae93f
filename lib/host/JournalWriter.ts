/**
 * The one writer of a claimed thread. Facts that arrive while an append is under
 * way are written together by the next one, so a batch of 50 calls does not cost
 * 100 commits. The first write that is refused ends the writer: whoever lost the
 * thread writes nothing more (DU-13).
 */
import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Queue from "effect/Queue";
import * as Random from "effect/Random";
import * as Schedule from "effect/Schedule";
import type * as Scope from "effect/Scope";
import type { RunEvent } from "#lib/contract/events.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { type DiagnosticToStore, Journal, type JournalTail } from "#lib/durable/Journal.ts";
import type { Claim } from "#lib/durable/SubmissionLedger.ts";
import { AbortPending, StoreError } from "#lib/durable/StoreError.ts";
import { type DurabilityError, RunDurability } from "#lib/engine/RunDurability.ts";

interface Entry {
  readonly records: ReadonlyArray<RunRecord>;
  readonly diagnostics: ReadonlyArray<DiagnosticToStore>;
  readonly done: Deferred.Deferred<void, DurabilityError>;
}

/** Events that no record carries wait at most this long, and at most this many of them. */
const softEventDelay = "100 millis";
const maxSoftEvents = 1_000;
/** A store that answers nothing for this long ends the attempt; the sweeper takes the run up again. */
const retries = Schedule.max([
  Schedule.exponential("50 millis").pipe(Schedule.jittered),
  Schedule.recurs(7),
]);

interface WriterState {
  tail: JournalTail;
  readonly records: Array<RunRecord>;
  readonly soft: Array<{ readonly event: RunEvent; readonly at: number }>;
  /** Database clock minus this process's clock, learned from each append. */
  clockOffset: number;
  /** Why nothing more may be written, once a write was refused. */
  refused: DurabilityError | undefined;
}

export interface JournalWriter {
  readonly durability: RunDurability["Service"];
  /** The run's records as this process knows them: what was claimed, and every append since. */
  readonly records: () => ReadonlyArray<RunRecord>;
}

export const makeJournalWriter = (
  claim: Claim,
): Effect.Effect<JournalWriter, never, Journal | Scope.Scope> =>
  Effect.gen(function* () {
    const journal = yield* Journal;
    // Every writer waits for its entry, so there are never more entries than calls in flight.
    const queue = yield* Queue.bounded<Entry>(1_024);
    const state: WriterState = {
      tail: claim.tail,
      records: claim.records.map((stored) => stored.record),
      soft: [],
      clockOffset: 0,
      refused: undefined,
    };
    const now = Effect.map(Clock.currentTimeMillis, (millis) => millis + state.clockOffset);

    const write = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
      if (state.refused !== undefined) return yield* state.refused;
      const records = entries.flatMap((entry) => entry.records);
      const events = state.soft.splice(0);
      const nonce = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER);
      const receipt = yield* journal
        .append({
          tenantId: claim.tenantId,
          threadId: claim.threadId,
          runId: claim.runId,
          agentId: claim.agentId,
          epoch: claim.epoch,
          expectedTail: state.tail,
          // Unique to this append and kept for every retry of it (PG-02).
          batchId: `${claim.epoch}-${state.tail.sequence}-${nonce.toString(36)}`,
          records,
          events,
          diagnostics: entries.flatMap((entry) => entry.diagnostics),
        })
        .pipe(
          Effect.retry({
            schedule: retries,
            while: (error) => error instanceof StoreError && error.retryable,
          }),
        );
      state.tail = receipt.tail;
      state.records.push(...records);
      // A replayed answer tells the time of the first try, not of now.
      if (!receipt.replayed)
        state.clockOffset = receipt.recordedAt - (yield* Clock.currentTimeMillis);
    });

    /** An append that has begun is always waited for: its answer decides what the tail is. */
    const writeAll = (entries: ReadonlyArray<Entry>) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          const exit = yield* Effect.exit(write(entries));
          if (Exit.isFailure(exit)) {
            const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
            // An abort that waits to be delivered is no loss of the thread: the abort comes next.
            if (!(failure instanceof AbortPending)) state.refused ??= failure;
          }
          for (const entry of entries) yield* Deferred.done(entry.done, exit);
        }),
      );
    yield* Queue.takeAll(queue).pipe(Effect.flatMap(writeAll), Effect.forever, Effect.forkScoped);

    const record: RunDurability["Service"]["record"] = (records, diagnostics = []) =>
      // Not interruptible: whoever goes on after an interruption must know what was written.
      Effect.uninterruptible(
        Effect.gen(function* () {
          const done = yield* Deferred.make<void, DurabilityError>();
          yield* Queue.offer(queue, { records, diagnostics, done });
          return yield* Deferred.await(done);
        }),
      );

    const flushSoft = Effect.suspend(() => (state.soft.length === 0 ? Effect.void : record([])));
    yield* flushSoft.pipe(
      Effect.delay(softEventDelay),
      // What could not be shown is shown by the facts that follow; a refused write is met by them too.
      Effect.ignore,
      Effect.forever,
      Effect.forkScoped,
    );

    return {
      records: () => state.records,
      durability: RunDurability.of({
        record,
        emit: (event) =>
          Effect.map(now, (at) => {
            if (state.soft.length < maxSoftEvents) state.soft.push({ event, at });
          }),
        // People decide after the attempt has let go; their rows arrive with the next claim.
        answers: () => Effect.succeed([]),
        // The response's own record carries the snapshot, in the same append.
        noteToolExposure: () => Effect.void,
        postponesPassing: true,
        now,
      }),
    };
  });
