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
import type { AgentId, RunId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { type DiagnosticToStore, Journal, type JournalTail } from "#lib/durable/Journal.ts";
import { retryAfterFailure } from "#lib/durable/retry-after-failure.ts";
import type { Claim } from "#lib/durable/SubmissionLedger.ts";
import { AbortPending, StoreError } from "#lib/durable/StoreError.ts";
import type { ResultToKeep } from "#lib/results/kept-text.ts";
import { type DurabilityError, RunDurability } from "#lib/engine/RunDurability.ts";

/** The run that records are about: the claimed one, or another of its thread that ends in passing. */
interface RunOfThread {
  readonly runId: RunId;
  readonly agentId: AgentId;
}

interface Entry {
  readonly run: RunOfThread;
  readonly records: ReadonlyArray<RunRecord>;
  readonly diagnostics: ReadonlyArray<DiagnosticToStore>;
  readonly results?: ReadonlyArray<ResultToKeep> | undefined;
  readonly done: Deferred.Deferred<void, DurabilityError>;
  /** Nobody waits for it, so it may wait a moment for what comes next. */
  readonly soon: boolean;
}

/** Events that no record carries wait at most this long, and at most this many of them. */
const softEventDelay = "100 millis";
const maxSoftEvents = 1_000;
/** Turns of the scheduler that a result waits for the next call's preparation, well under a millisecond. */
const turnsForCompany = 4;
/** A store that answers nothing for this long ends the attempt; the sweeper takes the run up again. */
const retries = Schedule.max([
  Schedule.exponential("50 millis").pipe(Schedule.jittered),
  Schedule.recurs(7),
]);

interface WriterState {
  /** Of this writer, those that were refused too. */
  appends: number;
  tail: JournalTail;
  readonly records: Array<RunRecord>;
  readonly soft: Array<{ readonly event: RunEvent; readonly at: number }>;
  /** Database clock minus this process's clock, learned from each append. */
  clockOffset: number;
  /** Why nothing more may be written, once a write failed: an error, or a defect of the store. */
  refused: Cause.Cause<DurabilityError> | undefined;
}

export interface JournalWriter {
  readonly durability: RunDurability["Service"];
  /** The run's records as this process knows them: what was claimed, and every append since. */
  readonly records: () => ReadonlyArray<RunRecord>;
  /** Writes records of another run of the thread, which no claim can reach while this one has it. */
  readonly recordOther: (
    run: RunOfThread,
    records: ReadonlyArray<RunRecord>,
  ) => Effect.Effect<void, DurabilityError>;
}

/** May be refused for what somebody said meanwhile (`AbortPending`). */
const mayWait = ({ records }: Entry): boolean =>
  records.some(({ _tag }) => _tag === "RunSettled" || _tag === "UnknownResolved");

/**
 * Entries in their order, those of one run that stand together in one append. What may be
 * refused for itself alone has one of its own: nothing that nobody waits for may be lost with it.
 */
const appendsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const groups: Array<Array<Entry>> = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    const first = last?.[0];
    const joins = first?.run.runId === entry.run.runId && !mayWait(first) && !mayWait(entry);
    if (last !== undefined && joins) last.push(entry);
    else groups.push([entry]);
  }
  return groups;
};

export const makeJournalWriter = (
  claim: Claim,
): Effect.Effect<JournalWriter, never, Journal | Scope.Scope> =>
  Effect.gen(function* () {
    const journal = yield* Journal;
    // Writers wait for their entries, and each call leaves at most one that nobody waits for; a full queue makes them wait.
    const queue = yield* Queue.bounded<Entry>(1_024);
    const nonce = (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36);
    const state: WriterState = {
      appends: 0,
      tail: claim.tail,
      records: claim.records.map((stored) => stored.record),
      soft: [],
      clockOffset: 0,
      refused: undefined,
    };
    const now = Effect.map(Clock.currentTimeMillis, (millis) => millis + state.clockOffset);

    const write = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
      if (state.refused !== undefined) return yield* Effect.failCause(state.refused);
      const run = entries[0]?.run ?? claim;
      const isOwn = run.runId === claim.runId;
      const records = entries.flatMap((entry) => entry.records);
      const events = isOwn ? state.soft.splice(0) : [];
      // Whoever only waits for what is before it costs no append.
      if (records.length === 0 && events.length === 0) return;
      const results = entries.flatMap((entry) => entry.results ?? []);
      const append = (state.appends += 1);
      const receipt = yield* journal
        .append({
          tenantId: claim.tenantId,
          threadId: claim.threadId,
          runId: run.runId,
          agentId: run.agentId,
          epoch: claim.epoch,
          expectedTail: state.tail,
          // Unique to this append and kept for every retry of it (PG-02): two hosts never have one epoch.
          batchId: `${claim.epoch}-${state.tail.sequence}-${nonce}-${append}`,
          records,
          events,
          diagnostics: entries.flatMap((entry) => entry.diagnostics),
          ...(results.length === 0 ? {} : { results }),
          nothingLost: isOwn && claim.lostAttempts === 0,
        })
        .pipe(
          retryAfterFailure({
            schedule: retries,
            while: (error) => error instanceof StoreError && error.retryable,
          }),
        );
      state.tail = receipt.tail;
      if (isOwn) state.records.push(...records);
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
            // An abort or an answer that waits to be delivered is no loss of the thread: it comes next.
            // A defect counts too: what nobody waited for may be lost with it, and nothing may follow from that.
            if (!(failure instanceof AbortPending)) state.refused ??= exit.cause;
          }
          for (const entry of entries) yield* Deferred.done(entry.done, exit);
        }),
      );
    /** What waits, and what comes in the next moment while nobody waits for what is there. */
    const gather = Effect.fnUntraced(function* (taken: ReadonlyArray<Entry>) {
      const entries = [...taken];
      for (let turn = 0; turn < turnsForCompany && entries.every(({ soon }) => soon); turn++) {
        yield* Effect.yieldNow;
        entries.push(...(yield* Queue.clear(queue)));
      }
      return appendsOf(entries);
    });
    // Whole: an entry that was taken is always answered.
    yield* Effect.uninterruptibleMask((restore) =>
      restore(Queue.takeAll(queue)).pipe(
        Effect.flatMap(gather),
        Effect.flatMap(Effect.forEach((entries) => writeAll(entries), { discard: true })),
      ),
    ).pipe(Effect.forever, Effect.forkScoped);

    const offer = (entry: Omit<Entry, "done">) =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<void, DurabilityError>();
        return Effect.as(Queue.offer(queue, { done, ...entry }), done);
      });
    const recordOf = (
      run: RunOfThread,
      records: ReadonlyArray<RunRecord>,
      diagnostics: ReadonlyArray<DiagnosticToStore>,
      results?: ReadonlyArray<ResultToKeep>,
    ): Effect.Effect<void, DurabilityError> =>
      // Not interruptible: whoever goes on after an interruption must know what was written.
      Effect.uninterruptible(
        Effect.flatMap(offer({ run, records, diagnostics, results, soon: false }), Deferred.await),
      );
    const record: RunDurability["Service"]["record"] = (records, diagnostics = [], results) =>
      recordOf(claim, records, diagnostics, results);
    const recordSoon: RunDurability["Service"]["recordSoon"] = (
      records,
      diagnostics = [],
      results,
    ) =>
      // Whoever lost the thread hears it at the next result, not only when the batch has ended.
      Effect.uninterruptible(
        Effect.suspend(() =>
          state.refused === undefined
            ? Effect.asVoid(offer({ run: claim, records, diagnostics, results, soon: true }))
            : Effect.failCause(state.refused),
        ),
      );
    // Runs before the writer is taken away, so that no result is lost with it.
    yield* Effect.addFinalizer(() => Effect.exit(record([])));

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
      recordOther: (run, records) => recordOf(run, records, []),
      durability: RunDurability.of({
        record,
        recordSoon,
        keptResult: Effect.fnUntraced(function* (resultId) {
          // What the record says is what the text is held against, not what stands beside the text.
          const record = state.records.findLast(
            (one) => one._tag === "ToolCallSettled" && one.kept?.resultId === resultId,
          );
          if (record?._tag !== "ToolCallSettled" || record.kept === undefined) return undefined;
          const { tenantId, runId } = claim;
          const text = yield* journal.keptResult({ tenantId, runId, resultId });
          const { callId, kept, originalBytes, turn } = record;
          // A row that is gone is met like one that was altered: the text is not the recorded one.
          return { ...kept, turn, callId, originalBytes, text: text ?? "" };
        }),
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
