import type * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import type * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import type * as Option from "effect/Option";

/**
 * How the host's own code ended, or none when it took longer than `limit`.
 *
 * It runs in a fiber of its own, so that code that interrupts itself is not taken
 * for an interruption of the run. Interrupting the caller interrupts it too. Code
 * that is late is told to stop and not waited for; it ends with the calling fiber
 * at the latest.
 */
export const exitWithin = Effect.fnUntraced(function* <A, E>(
  effect: Effect.Effect<A, E>,
  limit: Duration.Input,
): Effect.fn.Return<Option.Option<Exit.Exit<A, E>>> {
  const fiber = yield* Effect.forkChild(effect);
  return yield* Effect.timeoutOption(Fiber.await(fiber), limit).pipe(
    Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe())),
  );
});
