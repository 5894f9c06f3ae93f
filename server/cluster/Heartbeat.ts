/**
 * Says every two seconds that this process is alive. Runs of a process that has
 * gone silent are due again; the Workers page shows the same fact. A process that
 * stops says so, and what it held is due at once.
 */
import { Effect, Fiber, Layer, Schedule } from "effect";
import type { WorkerId } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";

export const heartbeatLayer = (
  workerId: WorkerId,
  address: string,
): Layer.Layer<never, never, SubmissionLedger> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const ledger = yield* SubmissionLedger;
      const beating = yield* ledger.heartbeat({ workerId, address }).pipe(
        // The store's own trouble is on the readiness route; one missed beat says nothing.
        Effect.ignore,
        Effect.repeat(Schedule.spaced("2 seconds")),
        Effect.forkScoped,
      );
      // After the last beat, which would say again that this process is alive.
      yield* Effect.addFinalizer(() =>
        Effect.andThen(Fiber.interrupt(beating), Effect.ignore(ledger.retire({ workerId }))),
      );
    }),
  );
