/** `Effect.retry` for what hardly ever fails: the schedule is set up when something has failed, not for every success. */
import * as Effect from "effect/Effect";
import type * as Schedule from "effect/Schedule";

/** Does what `Effect.retry` does with the same options. */
export const retryAfterFailure =
  <E>(options: {
    readonly schedule: Schedule.Schedule<unknown>;
    readonly while: (error: E) => boolean;
  }) =>
  <A, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catch(effect, (first) => {
      let isFirst = true;
      // The schedule is told of the failure that there was, and then sees the effect itself.
      return Effect.retry(
        Effect.suspend(() => {
          if (!isFirst) return effect;
          isFirst = false;
          return Effect.fail(first);
        }),
        options,
      );
    });
