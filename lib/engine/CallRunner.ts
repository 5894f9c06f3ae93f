/**
 * Stages 5 and 6 for one call of the model, once it holds a slot: run its handler,
 * settle it. A success may still be on its way when the slot is free; it is durable
 * before the next effect of the run and before its next turn (DU-03).
 */
import * as Cause from "effect/Cause";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { programmaticToolsOf } from "#lib/broker/programmatic-tools.ts";
import { BatchFailure, makeCallInside } from "./call-inside.ts";
import type { InnerAllowance } from "./inner-allowance.ts";
import { makeInnerCalls } from "./InnerCalls.ts";
import type { RunContext } from "./RunContext.ts";
import { type DurabilityError, RunDurability } from "./RunDurability.ts";
import {
  type ExecutedCall,
  executeCall,
  type ReadyCall,
  type Surroundings,
} from "./run-handler.ts";
import { settlementOf, unsureRecord } from "./settlement-of.ts";

/** Runs one call to its recorded end. Fails only to end the whole batch. */
export const runCall = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  allowance: InnerAllowance,
  surroundings: Surroundings,
): Effect.Effect<void, DurabilityError | BatchFailure, RunDurability> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const inside = makeCallInside();
      const inner =
        programmaticToolsOf(call.tool) === undefined
          ? undefined
          : yield* makeInnerCalls(context, turn, call, inside, allowance);
      const executed = yield* executeCall(context, turn, call, {
        inside,
        surroundings,
        ...(inner === undefined ? {} : { broker: inner }),
      });
      if (inside.end?._tag === "batch") return yield* Effect.fail(inside.end.error);
      const doubts = inner?.doubts();
      if (doubts !== undefined && mayGoOn(executed)) {
        // Where the call may run again by itself, only the inner doubt waits for a person (DU-05).
        const runsAgain = call.evidence.declared.executionClass === "idempotent";
        const unsure = unsureRecord(context, turn, call, innerDoubt);
        return yield* (yield* RunDurability).record(runsAgain ? doubts : [...doubts, unsure]);
      }
      yield* settle(context, turn, call, executed);
    }),
  );

const innerDoubt =
  "A call that this one made has started and has no result; so nothing can be said of this one either.";

/** The call ended as if it were known how; a failure that ends the run records doubts with it (DU-09). */
const mayGoOn = ({ outcome }: ExecutedCall): boolean =>
  outcome._tag === "succeeded" || outcome._tag === "returned" || outcome._tag === "unsure";

const settle = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  executed: ExecutedCall,
): Effect.Effect<void, DurabilityError | BatchFailure, RunDurability> =>
  Effect.gen(function* () {
    const durability = yield* RunDurability;
    const settlement = settlementOf(context, turn, call, executed);
    switch (settlement._tag) {
      case "settled": {
        const { record, diagnostics, results, ends } = settlement;
        // A failure is told to the host once it is kept (F-16); a success needs nobody to wait for it.
        if (ends === undefined && record.failure === undefined)
          return yield* durability.recordSoon([record], diagnostics, results);
        yield* durability.record([record], diagnostics, results);
        if (ends !== undefined) return yield* ends;
        return;
      }
      case "unknown":
        return yield* durability.record([settlement.record]);
      case "defect":
        return yield* settlement.ends;
      case "interrupted":
        // A handler that interrupts itself has a fault of its own: trying it again would only meet it again (F-03).
        // Where its host interrupts, that wins over this failure as soon as interruption is on again.
        return yield* new BatchFailure({
          cause: Cause.interrupt(),
          kind: "defect",
          callId: call.evidence.declared.callId,
        });
    }
  });

/** Bounds how long a batch may run: what is left of the run's active time (DU-16). */
export const remainingTime = (maxDurationMillis: number, usedMillis: number): Duration.Duration =>
  Duration.millis(Math.max(0, maxDurationMillis - usedMillis));
