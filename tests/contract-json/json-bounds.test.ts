import { assert, describe, it } from "@effect/vitest";
import * as Result from "effect/Result";
import fc from "fast-check";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import {
  checkJsonBounds,
  defaultJsonLimits,
  type JsonLimits,
} from "#lib/contract/json/json-bounds.ts";
import { jsonStringByteLength, utf8ByteLength } from "#lib/contract/json/utf8.ts";
import { hostileString, jsonValue, nested } from "./arbitrary-json.ts";

const verdict = (value: unknown, limits?: Partial<JsonLimits>): string => {
  const result = checkJsonBounds(value, { ...defaultJsonLimits, ...limits });
  if (Result.isSuccess(result)) return "within";
  const error = result.failure;
  return error._tag === "JsonBoundExceeded"
    ? `${error.limit} ${error.seen}>${error.max} ${error.path}`
    : error.found;
};

describe("JSON bounds", () => {
  it("[PG-06] the byte bound is exactly the size of the canonical text", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const size = Buffer.byteLength(canonicalJson(value));
        assert.strictEqual(verdict(value, { bytes: size }), "within");
        assert.match(verdict(value, { bytes: size - 1 }), /^bytes /);
      }),
      { numRuns: 500 },
    );
  });

  it("[PG-06] sizes of any text equal those of the encoder", () => {
    fc.assert(
      fc.property(hostileString, (text) => {
        assert.strictEqual(utf8ByteLength(text), Buffer.byteLength(text));
        assert.strictEqual(jsonStringByteLength(text), Buffer.byteLength(JSON.stringify(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  it("[PG-06] each default limit admits its last value and refuses the next", () => {
    assert.strictEqual(verdict(nested(64)), "within");
    assert.match(verdict(nested(65)), /^depth 65>64 /);
    assert.strictEqual(verdict(Array.from({ length: 4_096 }, () => 0)), "within");
    assert.strictEqual(
      verdict({ list: Array.from({ length: 4_097 }, () => 0) }),
      "collection 4097>4096 $.list",
    );
    // 1 list, 16 rows and 65,519 numbers: exactly 65,536 values.
    const rows = Array.from({ length: 16 }, (_, row) =>
      Array.from({ length: row === 0 ? 4_094 : 4_095 }, () => 0),
    );
    assert.strictEqual(verdict(rows), "within");
    assert.strictEqual(verdict([...rows, []]), "nodes 65537>65536 $[16]");
    assert.strictEqual(verdict("x".repeat(1_048_574)), "within");
    assert.match(verdict("x".repeat(1_048_575)), /^bytes 1048577>1048576 \$/);
  });

  it("[R48] a depth of 5,000 and of 500,000 is refused, not a stack overflow", () => {
    assert.match(verdict(nested(5_000)), /^depth 65>64 /);
    assert.match(verdict(nested(500_000)), /^depth 65>64 /);
  });

  it("[R49] a 10 MB string and an object of 10,000 keys are refused", () => {
    assert.match(verdict({ text: "é".repeat(10_000_000) }), /^bytes .* \$\.text$/);
    const wide = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index]),
    );
    assert.strictEqual(verdict(wide), "collection 10000>4096 $");
  });

  it("[T-06] anything at all gets a verdict, never an exception", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSparseArray: true,
          withNullPrototype: true,
        }),
        (value) => {
          checkJsonBounds(value);
        },
      ),
      { numRuns: 1_000 },
    );
    assert.strictEqual(verdict(new Date(0)), "an instance of a class, not plain data");
    assert.strictEqual(verdict(Object.assign(Object.create(null), { a: 1 })), "within");
  });
});
