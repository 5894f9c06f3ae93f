import { assert, describe, it } from "@effect/vitest";
import { isCutValue } from "#lib/contract/cut-value.ts";
import { cutLongValue } from "#lib/durable/record-events.ts";

describe("a cut value", () => {
  it("[C081] is known by its three keys", () => {
    assert.isTrue(isCutValue(cutLongValue("x".repeat(2_000), 1_000)));
    for (const value of [
      null,
      "cut",
      [],
      {},
      { cut: true },
      { cut: false, originalBytes: 1, head: "" },
    ])
      assert.isFalse(isCutValue(value));
  });

  it("[C081] is none with anything more in it: an argument would hide behind the beginning that a model wrote", () => {
    const hostile = { cut: true, originalBytes: 30, head: '{"amount":5}', amount: 1_000_000 };
    assert.isFalse(isCutValue(hostile));
  });
});
