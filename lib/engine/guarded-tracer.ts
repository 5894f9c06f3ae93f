import * as Effect from "effect/Effect";
import * as Tracer from "effect/Tracer";

/**
 * Runs an effect under the current tracer, guarded: where the tracer cannot make
 * a span, one that goes nowhere stands in, so that telemetry never decides how a
 * run or a tool call ends (TE-04).
 */
export const withGuardedTracer = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.tracer, (tracer) =>
    Effect.provideService(effect, Tracer.Tracer, guarded(tracer)),
  );

const guarded = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      try {
        return tracer.span(options);
      } catch {
        return new Tracer.NativeSpan(options);
      }
    },
    ...(tracer.context === undefined ? {} : { context: tracer.context.bind(tracer) }),
  });
