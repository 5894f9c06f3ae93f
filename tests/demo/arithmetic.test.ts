import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";

import { evaluateArithmetic } from "#server/demo/shop/arithmetic.ts";

describe("calculate", () => {
  const cases = [
    ["3131.1 + 4777.75 + 367.38", "8276.23"],
    ["155.33 - 147.05 + 268.77 - 235.13", "41.92"],
    ["135.24 - 153.23", "-17.99"],
    ["2 * (3 + 4) - -1", "15"],
    ["10 / 4", "2.5"],
    ["1 / 3", "0.33"],
    ["0.1 + 0.2", "0.3"],
  ] as const;
  for (const [expression, expected] of cases) {
    it.effect(`${expression} is ${expected}`, () =>
      Effect.map(evaluateArithmetic(expression), (value) => assert.strictEqual(value, expected)),
    );
  }

  const refusals = [
    ["process.exit(1)", "invalid characters in expression"],
    ["constructor", "invalid characters in expression"],
    ["1 / 0", "division by zero"],
    ["(1 + 2", "the expression cannot be read"],
    ["1 2", "the expression is not arithmetic"],
    ["", "the expression is not arithmetic"],
    ["1 ** 2", "only + - * /"],
    ["(1)(2)", "the expression is not arithmetic"],
    ["1+".repeat(600) + "1", "longer than 1000 characters"],
    [`${"(".repeat(400)}1${")".repeat(400)}`, undefined],
  ] as const;
  for (const [expression, reason] of refusals) {
    it.effect(`${expression.slice(0, 30)} never runs as code and never throws`, () =>
      Effect.gen(function* () {
        const exit = yield* Effect.result(evaluateArithmetic(expression));
        if (reason === undefined) return;
        if (exit._tag === "Success") return assert.fail(`gave ${exit.success}`);
        assert.include(exit.failure.reason, reason);
      }),
    );
  }
});
