/**
 * Placement of threads on processes (PG-03). The cluster only says where a thread
 * is driven; nothing that matters is in its messages, and a lost wake costs at
 * most a second, until the sweeper comes by.
 */
import { Cause, Effect, Layer, Schema } from "effect";
import { Entity, Sharding } from "effect/unstable/cluster";
import { Rpc } from "effect/unstable/rpc";
import { TenantId, ThreadId } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import { Wakes } from "#lib/durable/Wakes.ts";
import { ThreadDriver, type ThreadRef } from "#lib/host/ThreadDriver.ts";
import { BeginStop } from "./quiet-stop.ts";

const Wake = Rpc.make("Wake", {
  payload: { tenantId: TenantId, threadId: ThreadId },
  success: Schema.Void,
});

const Thread = Entity.make("Thread", [Wake]);

/** A digest of the pair, never a joined string. */
const entityIdOf = ({ tenantId, threadId }: ThreadRef): string =>
  digestOf(["thread", tenantId, threadId]).slice(0, 40);

/**
 * One behaviour per thread: the first wake drives, wakes that arrive meanwhile
 * are folded into one more look. Two drives of one thread in one process would
 * only fence each other.
 */
export const threadEntityLayer = Thread.toLayer(
  Effect.gen(function* () {
    const driver = yield* ThreadDriver;
    let driving = false;
    let again = false;
    const drive = (thread: ThreadRef): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (driving) {
          again = true;
          return driver.nudge(thread);
        }
        driving = true;
        return Effect.gen(function* () {
          do {
            again = false;
            yield* driver.drive(thread);
          } while (again);
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              driving = false;
            }),
          ),
        );
      });
    return Thread.of({ Wake: ({ payload }) => drive(payload) });
  }),
  { maxIdleTime: "1 minute", concurrency: "unbounded", mailboxCapacity: 64 },
);

/** A member that hangs must not hold up whoever wakes: the sweeper comes by again. */
const deliveryPatience = "500 millis";

/**
 * Makes the driver's gate the first thing to close: nothing new starts, calls in
 * flight may end, and only then are the threads taken from this process.
 */
export const drainLayer = (millis: number): Layer.Layer<never, never, ThreadDriver> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const driver = yield* ThreadDriver;
      const beginStop = yield* BeginStop;
      yield* Effect.addFinalizer(() => {
        beginStop();
        return driver.close(millis);
      });
    }),
  );

/** Sends wakes through the cluster; waits for their delivery only a moment, never for what they do. */
export const wakesLayer: Layer.Layer<Wakes, never, Sharding.Sharding> = Layer.effect(
  Wakes,
  Effect.gen(function* () {
    const clientFor = yield* Thread.client;
    return Wakes.of({
      wake: (thread) =>
        clientFor(entityIdOf(thread))
          .Wake(thread, { discard: true })
          .pipe(
            Effect.timeoutOption(deliveryPatience),
            Effect.asVoid,
            // A wake is a hint: a full mailbox or a moving shard only means that the sweeper delivers it.
            Effect.catchCause((cause) =>
              Cause.hasInterruptsOnly(cause)
                ? Effect.interrupt
                : Effect.logDebug("A wake was not delivered"),
            ),
          ),
    });
  }),
);
