/**
 * Says every two seconds that this process is alive. Runs of a process that has
 * gone silent are due again; the Workers page shows the same fact.
 */
import { Effect, Layer, Schedule } from "effect";
import type { WorkerId } from "#lib/contract/ids.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";

export const heartbeatLayer = (workerId: WorkerId, address: string): Layer.Layer<never, never, SubmissionLedger> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const ledger = yield* SubmissionLedger;
      yield* ledger.heartbeat({ workerId, address }).pipe(
        // The store's own trouble is on the readiness route; one missed beat says nothing.
        Effect.ignore,
        Effect.repeat(Schedule.spaced("2 seconds")),
        Effect.forkScoped,
      );
    }),
  );
