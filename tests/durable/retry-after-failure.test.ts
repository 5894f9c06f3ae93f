import { assert, describe, it } from "@effect/vitest";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Schedule from "effect/Schedule";
import * as TestClock from "effect/testing/TestClock";
import { retryAfterFailure } from "#lib/durable/retry-after-failure.ts";

const options = {
  schedule: Schedule.max([Schedule.exponential("10 millis"), Schedule.recurs(3)]),
  while: (error: string) => error !== "for good",
};

/** Fails with each of the errors in turn, then succeeds; the times of its attempts are noted. */
const scripted = (errors: ReadonlyArray<string>, times: Array<number>) =>
  Effect.gen(function* () {
    times.push(yield* Clock.currentTimeMillis);
    const error = errors[times.length - 1];
    return error === undefined ? "done" : yield* Effect.fail(error);
  });

const ran = Effect.fnUntraced(function* (
  retrying: (effect: Effect.Effect<string, string>) => Effect.Effect<string, string>,
  errors: ReadonlyArray<string>,
) {
  const times: Array<number> = [];
  const from = yield* Clock.currentTimeMillis;
  const fiber = yield* Effect.forkChild(Effect.exit(retrying(scripted(errors, times))));
  yield* TestClock.adjust("1 minute");
  const exit = yield* Fiber.join(fiber);
  return {
    times: times.map((at) => at - from),
    end: Exit.isSuccess(exit) ? exit.value : String(exit.cause),
  };
});

describe("retrying after a failure", () => {
  for (const errors of [
    [],
    ["a"],
    ["a", "b"],
    ["a", "b", "c"],
    ["a", "b", "c", "d"],
    ["a", "b", "c", "d", "e"],
    ["for good"],
    ["a", "for good"],
  ]) {
    it.effect(`is tried as Effect.retry tries it: ${errors.join(", ") || "no failure"}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* ran(retryAfterFailure(options), errors),
          yield* ran((effect) => Effect.retry(effect, options), errors),
        );
      }),
    );
  }
});
