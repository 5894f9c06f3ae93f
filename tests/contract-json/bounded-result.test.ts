import { assert, describe, it } from "@effect/vitest";
import * as Schema from "effect/Schema";
import fc from "fast-check";
import { boundResult, TruncatedResult } from "#lib/contract/json/bounded-result.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { hostileString, jsonValue } from "./arbitrary-json.ts";

const sizeOf = (value: Json): number => Buffer.byteLength(canonicalJson(value));
const envelopeOf = (value: Json): TruncatedResult =>
  Schema.decodeUnknownSync(TruncatedResult)(value);

describe("bounded results", () => {
  it("[T-18] a result within its bound is the same value, and one byte more makes an envelope within the bound", () => {
    const fits = "x".repeat(51_198);
    assert.strictEqual(boundResult(fits), fits);
    const envelope = envelopeOf(boundResult(`${fits}x`));
    assert.strictEqual(envelope.originalBytes, 51_201);
    assert.isAtMost(sizeOf(envelope), 51_200);
    // The bound is used, not merely kept.
    assert.isAtLeast(sizeOf(envelope), 51_190);
  });

  it("[T-18] [R52] the envelope of any large result fits, is well formed and shows the result's true beginning and end", () => {
    const large = fc.array(fc.oneof(jsonValue, hostileString), { minLength: 30, maxLength: 60 });
    fc.assert(
      fc.property(large, fc.integer({ min: 256, max: 2_000 }), (value, maxBytes) => {
        const bounded = boundResult(value, maxBytes);
        assert.isAtMost(sizeOf(bounded), maxBytes);
        if (sizeOf(value) <= maxBytes) return assert.strictEqual(bounded, value);
        const envelope = envelopeOf(bounded);
        const text = canonicalJson(value);
        assert.strictEqual(envelope.format, "json");
        assert.strictEqual(envelope.originalBytes, sizeOf(value));
        assert.isTrue(text.startsWith(envelope.head) && text.endsWith(envelope.tail));
        assert.isTrue(envelope.head.isWellFormed() && envelope.tail.isWellFormed());
      }),
      { numRuns: 300 },
    );
  });

  it("[T-18] a text result keeps its own characters and no pair is split at either cut", () => {
    for (let offset = 0; offset < 8; offset++) {
      const text = `${"a".repeat(offset)}${"😀".repeat(2_000)}${"b".repeat(offset)}`;
      const envelope = envelopeOf(boundResult(text, 512));
      assert.strictEqual(envelope.format, "text");
      assert.isTrue(text.startsWith(envelope.head) && text.endsWith(envelope.tail));
      assert.isTrue(envelope.head.isWellFormed() && envelope.tail.isWellFormed());
      assert.isAbove(envelope.head.length, envelope.tail.length);
    }
  });

  it("[T-18] a bound below 256 bytes is raised to 256", () => {
    const bounded = boundResult("x".repeat(5_000_000), 1);
    assert.isAtMost(sizeOf(bounded), 256);
    assert.strictEqual(envelopeOf(bounded).originalBytes, 5_000_002);
  });
});
