/**
 * The singleton that finds what is due and wakes it: ready submissions, decided
 * approvals, passed expiries, resolved unknowns, threads whose process is gone.
 * Apart from expiring approvals it decides nothing; progress depends on it alone (PG-04).
 */
import { Effect, type Layer, Schedule } from "effect";
import { Singleton, type Sharding } from "effect/unstable/cluster";
import { Approvals } from "#lib/durable/Approvals.ts";
import { SubmissionLedger } from "#lib/durable/SubmissionLedger.ts";
import type { StoreError } from "#lib/durable/StoreError.ts";
import { Wakes } from "#lib/durable/Wakes.ts";

/** Threads woken in one pass; the rest follows in the next one. */
const batchSize = 500;

/** Wakes on their way at once; each takes at most the delivery's patience. */
const wakesAtOnce = 16;

type Found = ReadonlyArray<Parameters<Wakes["Service"]["wake"]>[0]>;

/** Expires what has passed and wakes what is due; trouble with one half does not stop the other. */
export const sweep = Effect.fn("Sweeper.sweep")(function* () {
  const approvals = yield* Approvals;
  const ledger = yield* SubmissionLedger;
  const wakes = yield* Wakes;
  const wakeAll = (find: Effect.Effect<Found, StoreError>) =>
    Effect.flatMap(find, (threads) =>
      Effect.forEach(threads, (thread) => wakes.wake(thread), {
        concurrency: wakesAtOnce,
        discard: true,
      }),
    ).pipe(
      Effect.catchTag("StoreError", (error) =>
        Effect.logWarning("A part of a sweep failed and is tried again", error.message),
      ),
    );
  yield* wakeAll(approvals.expire(batchSize));
  yield* wakeAll(ledger.due(batchSize));
});

export const sweeperLayer: Layer.Layer<
  never,
  never,
  Approvals | Sharding.Sharding | SubmissionLedger | Wakes
> = Singleton.make(
  "Sweeper",
  sweep().pipe(
    Effect.catchCause((cause) => Effect.logWarning("A sweep failed and is tried again", cause)),
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.asVoid,
  ),
);
