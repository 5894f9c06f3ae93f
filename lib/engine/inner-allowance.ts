/**
 * What the programs of one run share: its tool-call budget, of which an inner call
 * takes its part when it may start (CM-05, F-14), and the slots in which inner
 * calls run (B-03). Inner calls never make inner calls, so waiting for a slot
 * cannot wait for itself.
 */
import type * as Effect from "effect/Effect";
import * as Semaphore from "effect/Semaphore";
import type { RunContext } from "./RunContext.ts";

export interface InnerAllowance {
  /** Takes one call of the run's budget; the limit where none is left. */
  readonly reserve: () => { readonly limit: number } | undefined;
  /** Runs an inner call in a slot; a barrier tool takes them all and so runs beside no other inner call (S-02). */
  readonly inSlot: <A, E, R>(
    isBarrier: boolean,
    call: Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>;
}

/** @param used calls that count already, those of the batch that is about to run included */
export const makeInnerAllowance = (context: RunContext, used: number): InnerAllowance => {
  const limit = context.definition.policy.maxToolCalls;
  const slots = Semaphore.makeUnsafe(context.concurrency);
  let taken = used;
  return {
    reserve: () => {
      if (taken >= limit) return { limit };
      taken += 1;
      return undefined;
    },
    inSlot: (isBarrier, call) => slots.withPermits(isBarrier ? context.concurrency : 1)(call),
  };
};
