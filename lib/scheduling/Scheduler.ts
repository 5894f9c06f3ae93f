/**
 * Runs the calls of one batch: bounded, split at barriers, owned by the caller.
 */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import type * as Scope from "effect/Scope";
import { planBatches } from "#lib/scheduling/plan-batches.ts";

/** One batch and how to run a call of it. */
export interface ScheduledBatch<Call, A, E, R> {
  /** The whole batch in declaration order. */
  readonly calls: ReadonlyArray<Call>;
  /** Most calls in flight; a whole number of at least 1, from `effectiveConcurrency` (`S-03`). */
  readonly concurrency: number;
  /** Whether a call must run alone (`S-02`); asked once per call. */
  readonly isBarrier: (call: Call) => boolean;
  /** The result a call already has; such a call is not run again (`S-05`). None by default. */
  readonly recorded?: (call: Call, index: number) => Option.Option<A>;
  /**
   * Runs one call: everything that belongs to it, its stream and its handler
   * included. It is started only when the call holds a slot, in a fiber and a
   * scope of its own, and both are closed before the slot is free again.
   */
  readonly run: (call: Call, index: number) => Effect.Effect<A, E, R>;
}

/**
 * Runs a batch and gives all results in declaration order (`B-05`).
 *
 * - At most `concurrency` calls are open; a waiting call is an entry of a list
 *   and owns no fiber, no stream and no scope (`B-03`, `B-04`).
 * - A barrier call overlaps nothing; its neighbours still overlap each other (`S-02`).
 * - A call that fails, dies or is interrupted interrupts the running ones, waits
 *   for their finalizers, starts no other, and ends the batch with its own cause
 *   (`B-07`, `B-08`). Interrupting the batch does the same.
 */
export const runScheduled = Effect.fnUntraced(function* <Call, A, E, R>(
  batch: ScheduledBatch<Call, A, E, R>,
): Effect.fn.Return<ReadonlyArray<A>, E, Exclude<R, Scope.Scope>> {
  const results = batch.calls.map(
    (call, index) => batch.recorded?.(call, index) ?? Option.none<A>(),
  );
  const segments = planBatches(batch.calls, batch.isBarrier, (_, index) =>
    Option.isSome(results[index] ?? Option.none()),
  );
  const own = batch.concurrency === 1 ? inOwnFiber : Effect.scoped;
  let hasEnded = false;
  for (const segment of segments) {
    yield* Effect.forEach(
      segment.calls,
      ({ call, index }) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.matchCauseEffect(restore(own(Effect.suspend(() => batch.run(call, index)))), {
            onSuccess: (result) => {
              results[index] = Option.some(result);
              return Effect.void;
            },
            // The batch ends with the cause of the first; how the others close is no part of it.
            onFailure: (cause) => {
              if (hasEnded) return Effect.interrupt;
              hasEnded = true;
              return Effect.failCause(cause);
            },
          }),
        ),
      { concurrency: batch.concurrency, discard: true },
    );
  }
  return results.flatMap((result) => (Option.isSome(result) ? [result.value] : []));
});

/**
 * Gives a call its own fiber and scope where calls run one after the other: whatever
 * the call forks as a child ends with it and not with the batch. Where they run side
 * by side, `Effect.forEach` has made a fiber for each already.
 */
const inOwnFiber = <A, E, R>(
  call: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkChild(Effect.scoped(call)), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => Fiber.interrupt(fiber)),
    ),
  );
