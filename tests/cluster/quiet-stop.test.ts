import { assert, it } from "@effect/vitest";
import { Effect, Layer, Logger } from "effect";
import { quietAtStop } from "#server/cluster/quiet-stop.ts";

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
