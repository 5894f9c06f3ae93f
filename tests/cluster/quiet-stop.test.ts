import { assert, it } from "@effect/vitest";
import { Context, Effect, Layer, Logger } from "effect";
import { BeginStop, quietAtStop } from "#server/cluster/quiet-stop.ts";

const line = "No healthy runners available";

it.effect(
  "the cluster's line about healthy runners is a warning while the host works, and none when it stops",
  () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = [];
      const listening = Layer.succeed(
        Logger.CurrentLoggers,
        new Set([Logger.make<unknown, void>(({ message }) => void seen.push(message))]),
      );
      const placement = Layer.effectDiscard(
        Effect.gen(function* () {
          yield* Effect.logWarning(line);
          yield* Effect.addFinalizer(() =>
            Effect.andThen(
              Effect.logWarning(line),
              Effect.logWarning("A shard was not given back"),
            ),
          );
        }),
      );
      yield* Effect.scoped(Layer.build(quietAtStop(placement).pipe(Layer.provide(listening))));
      assert.deepStrictEqual(seen, [[line], ["A shard was not given back"]]);
    }),
);

it.effect("the line is left out from the moment on in which the host says that it stops", () =>
  Effect.gen(function* () {
    const seen: Array<unknown> = [];
    const listening = Layer.succeed(
      Logger.CurrentLoggers,
      new Set([Logger.make<unknown, void>(({ message }) => void seen.push(message))]),
    );
    // What the cluster forks says it, and it was forked with the placement's own loggers.
    const speak = Context.Service<{ readonly say: Effect.Effect<void> }>("tests/Speak");
    const placement = Layer.effect(
      speak,
      Effect.map(Effect.context(), (context) => ({
        say: Effect.provideContext(Effect.logWarning(line), context),
      })),
    );
    yield* Effect.gen(function* () {
      const { say } = yield* speak;
      yield* say;
      (yield* BeginStop)();
      yield* say;
    }).pipe(Effect.provide(quietAtStop(placement).pipe(Layer.provide(listening))));
    assert.deepStrictEqual(seen, [[line]]);
  }),
);
