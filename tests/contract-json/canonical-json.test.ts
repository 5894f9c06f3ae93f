import { assert, describe, it } from "@effect/vitest";
import * as Result from "effect/Result";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { canonicalJson, encodeCanonicalJson } from "#lib/contract/json/canonical-json.ts";
import { digestOf, sha256Hex } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import { jsonValue, nested } from "./arbitrary-json.ts";

const shuffledKeys = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(shuffledKeys);
  if (value === null || typeof value !== "object") return value;
  const target: Record<string, Json> = {};
  for (const [key, child] of Object.entries(value).reverse()) {
    Object.defineProperty(target, key, {
      value: shuffledKeys(child),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return target;
};

const refusal = (value: unknown): string => {
  const result = encodeCanonicalJson(value);
  return Result.isFailure(result)
    ? `${result.failure.path} ${result.failure.found}`
    : `accepted as ${result.success}`;
};

describe("canonical JSON", () => {
  it("[PG-06] canonical text of any JSON value parses back to an equal value, negative zero and __proto__ included", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const back: unknown = JSON.parse(canonicalJson(value));
        assert.isTrue(sameJson(back, value));
      }),
      { numRuns: 500 },
    );
  });

  it("[PG-06] canonical text is well-formed UTF-8 without NUL, whatever the value holds", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value);
        assert.isTrue(text.isWellFormed());
        assert.isFalse(text.includes("\u0000"));
      }),
      { numRuns: 500 },
    );
  });

  it("equal values in another key order have the same text and the same digest", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        assert.strictEqual(canonicalJson(shuffledKeys(value)), canonicalJson(value));
        assert.strictEqual(digestOf(shuffledKeys(value)), digestOf(value));
      }),
    );
  });

  it("keys are sorted by UTF-16 code unit and numbers have their shortest text", () => {
    // RFC 8785 section 3.2.3 orders U+1F600 (a surrogate pair) before U+FB33.
    assert.strictEqual(
      canonicalJson({ "\ufb33": 1, "\u{1F600}": 2, "10": 3, "9": 4, a: [1e21, 0.1, 100, 1e-7] }),
      '{"10":3,"9":4,"a":[1e+21,0.1,100,1e-7],"\u{1F600}":2,"\ufb33":1}',
    );
  });

  it("the digest is SHA-256 of the canonical UTF-8 text", () => {
    assert.strictEqual(
      sha256Hex("abc"),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    assert.strictEqual(digestOf({ b: "é", a: 1 }), sha256Hex('{"a":1,"b":"é"}'));
  });

  it("a server's own SHA-256 gives what a browser's gives, lone surrogates included", () => {
    const inBrowser = (text: string) => bytesToHex(sha256(utf8ToBytes(text)));
    assert.strictEqual(sha256Hex("a\ud800b\udc00"), inBrowser("a\ufffdb\ufffd"));
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        assert.strictEqual(sha256Hex(text), inBrowser(text));
      }),
    );
  });

  it("[T-06] what JSON cannot hold is refused with its path", () => {
    const cycle: { list: Array<unknown> } = { list: [] };
    cycle.list.push({ back: cycle });
    assert.strictEqual(refusal(undefined), "$ undefined");
    assert.strictEqual(
      refusal({ a: [1, { "odd key": undefined }] }),
      '$.a[1]["odd key"] undefined',
    );
    assert.strictEqual(refusal({ n: 10n }), "$.n a bigint");
    assert.strictEqual(refusal([Number.NaN]), "$[0] the number NaN");
    assert.strictEqual(refusal([1, -Infinity]), "$[1] the number -Infinity");
    assert.strictEqual(refusal({ f: () => 1 }), "$.f a function");
    assert.strictEqual(refusal({ s: Symbol("x") }), "$.s a symbol");
    assert.strictEqual(
      refusal(cycle),
      "$.list[0].back a reference back to a value that contains it (a cycle)",
    );
    assert.strictEqual(refusal({ m: new Map() }), "$.m an instance of a class, not plain data");
    assert.strictEqual(refusal(Array(1)), "$[0] undefined");
    const thrower = {
      get secret(): never {
        throw new Error("canary");
      },
    };
    assert.strictEqual(
      refusal({ thrower }),
      "$.thrower.secret a property that throws when it is read",
    );
  });

  it("an instance with toJSON stands for what it returns, and the same object twice is no cycle", () => {
    const shared = { at: new Date(0) };
    assert.strictEqual(
      canonicalJson([shared, shared] as unknown as Json),
      '[{"at":"1970-01-01T00:00:00.000Z"},{"at":"1970-01-01T00:00:00.000Z"}]',
    );
  });

  it("[R48] a value nested 50,000 deep has a canonical text, a digest and a copy", () => {
    const deep = nested(50_000);
    const text = canonicalJson(deep);
    assert.isTrue(text.startsWith('{"inner":[{"inner":['));
    assert.strictEqual(digestOf(deep), sha256Hex(text));
    assert.strictEqual(canonicalJson(Result.getOrThrow(toJson(deep))), text);
  });

  it("[T-06] a copy leaves out absent optional fields, keeps __proto__ as data and refuses undefined in a list", () => {
    const copy = Result.getOrThrow(
      toJson({ a: 1, gone: undefined, ["__proto__"]: { polluted: true } }),
    );
    assert.strictEqual(canonicalJson(copy), '{"__proto__":{"polluted":true},"a":1}');
    assert.isUndefined(Object.getPrototypeOf(copy).polluted);
    assert.isTrue(Result.isFailure(toJson([undefined])));
    assert.isTrue(Result.isFailure(toJson(undefined)));
  });
});

/** Equality that tells -0 from 0 and reads only own keys. */
const sameJson = (left: unknown, right: unknown): boolean => {
  if (Array.isArray(left) && Array.isArray(right)) {
    return (
      left.length === right.length && left.every((item, index) => sameJson(item, right[index]))
    );
  }
  if (typeof left === "object" && left !== null && typeof right === "object" && right !== null) {
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every(
        (key) => Object.hasOwn(right, key) && sameJson(ownValue(left, key), ownValue(right, key)),
      )
    );
  }
  return Object.is(left, right);
};

const ownValue = (target: object, key: string): unknown =>
  Object.getOwnPropertyDescriptor(target, key)?.value;
