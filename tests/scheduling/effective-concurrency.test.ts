import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { effectiveConcurrency } from "#lib/scheduling/effective-concurrency.ts";
import { toRunSchedulingHook } from "#lib/run-options.ts";

describe("effectiveConcurrency", () => {
  it.effect("[S-01] a run's override lowers the policy's maximum and never raises it", () =>
    Effect.gen(function* () {
      const seen = yield* Effect.all([
        effectiveConcurrency(4),
        effectiveConcurrency(4, { mode: "concurrent", max: 16 }),
        effectiveConcurrency(4, { mode: "concurrent", max: 2 }),
        effectiveConcurrency(4, { mode: "sequential" }),
        effectiveConcurrency(
          4,
          toRunSchedulingHook({ mode: "sequential" }, (name) => name === "mutate_account").override,
        ),
      ]);
      assert.deepStrictEqual(seen, [4, 4, 2, 1, 1]);
    }),
  );

  it.effect(
    "[S-01][S-03] an override that is no positive whole number is refused with the value and the limit",
    () =>
      Effect.gen(function* () {
        for (const max of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
          const error = yield* Effect.flip(effectiveConcurrency(4, { mode: "concurrent", max }));
          assert.strictEqual(error._tag, "SchedulingOverrideInvalid");
          assert.strictEqual(error.seen, String(max));
          assert.strictEqual(error.limit, 4);
          assert.include(error.message, String(max));
        }
      }),
  );

  it.effect("[S-03] an agent policy cannot be unbounded either", () =>
    Effect.gen(function* () {
      for (const maximum of [Number.POSITIVE_INFINITY, 0, 2.5]) {
        const error = yield* Effect.flip(effectiveConcurrency(maximum));
        assert.strictEqual(error._tag, "SchedulingOverrideInvalid");
      }
    }),
  );
});
