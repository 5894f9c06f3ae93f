/**
 * The singleton that finds what is due and wakes it: ready submissions, decided
 * approvals, passed expiries, resolved unknowns, threads whose process is gone.
 * It decides nothing and it is the only thing that progress depends on (PG-04).
 */
import { Effect, type Layer, Schedule } from "effect";
import { Singleton, type Sharding } from "effect/unstable/cluster";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import { Wakes } from "#lib/durable/Wakes.ts";

/** Threads woken in one pass; the rest follows in the next one. */
const batchSize = 500;

/** One pass: expire what has passed, then wake what is due. */
export const sweep = Effect.fn("Sweeper.sweep")(function* () {
  const ledger = yield* SubmissionLedger;
  const wakes = yield* Wakes;
  const expired = yield* ledger.expireApprovals(batchSize);
  const due = yield* ledger.due(batchSize);
  yield* Effect.forEach([...expired, ...due], (thread) => wakes.wake(thread), { discard: true });
});

export const sweeperLayer: Layer.Layer<
  never,
  never,
  Sharding.Sharding | SubmissionLedger | Wakes
> = Singleton.make(
  "Sweeper",
  sweep().pipe(
    Effect.catchCause((cause) => Effect.logWarning("A sweep failed and is tried again", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.asVoid,
  ),
);
