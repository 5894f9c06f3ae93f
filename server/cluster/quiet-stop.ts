import { Context, Effect, Layer, Logger } from "effect";

/** What a member says of itself once it has signed off, as if that were a fault. */
const expected = "No healthy runners available";

const says = (message: unknown): boolean =>
  message === expected || (Array.isArray(message) && message.includes(expected));

/** Says that a stop has begun, before the first part of the host lets go; does nothing without `quietAtStop`. */
export const BeginStop = Context.Reference<() => void>("effect-agent/cluster/BeginStop", {
  defaultValue: () => () => {},
});

/**
 * Placement whose own sign-off at the end is no warning: from the first step of a
 * stop on, the cluster's line about having no healthy runners is left out. While
 * the host works the same line is a warning as ever.
 */
export const quietAtStop = <A, E, R>(placement: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrap(
    Effect.gen(function* () {
      let stopping = false;
      const quiet = [...(yield* Logger.CurrentLoggers)].map((logger) =>
        Logger.make<unknown, void>((options) => {
          if (!(stopping && says(options.message))) logger.log(options);
        }),
      );
      const begin = () => {
        stopping = true;
      };
      // Where nobody says it, the end of the placement itself does: built last, so that it ends first.
      const closing = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(begin)));
      return Layer.provideMerge(closing, placement).pipe(
        Layer.provide(Layer.succeed(Logger.CurrentLoggers, new Set(quiet))),
        Layer.merge(Layer.succeed(BeginStop, begin)),
      );
    }),
  );
