import { assert, describe, it } from "@effect/vitest";
import { Result } from "effect";
import fc from "fast-check";
import { encodeCanonicalJson } from "#lib/contract/json/canonical-json.ts";
import { isSameShallow, shallowCopy, shallowText } from "#lib/contract/json/shallow-json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import { seeded } from "#tests/support/seeded.ts";
import { jsonValue, nested } from "./arbitrary-json.ts";

const levels = 64;

/** Deeper than any short cut goes, so that the walk reads it. */
const deep = (value: unknown): unknown => {
  let wrapped = value;
  for (let level = 0; level < levels; level++) wrapped = [wrapped];
  return wrapped;
};
const walkedText = (value: unknown) =>
  Result.map(encodeCanonicalJson(deep(value)), (text) => text.slice(levels, -levels));
const walkedCopy = (value: unknown) =>
  Result.map(toJson(deep(value)), (copy) => {
    let inner: unknown = copy;
    for (let level = 0; level < levels; level++) inner = Array.isArray(inner) ? inner[0] : inner;
    return inner;
  });

class Money {
  readonly cents = 1;
}
const cycle: Array<unknown> = [];
cycle.push(cycle, cycle, cycle);
const throwing = Object.defineProperty({}, "x", {
  enumerable: true,
  get: () => {
    throw new Error("no");
  },
});

/** What is not plain JSON data, or only nearly. */
const odd = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  -0,
  1n,
  Symbol("s"),
  () => 1,
  new Date(0),
  new Money(),
  cycle,
  throwing,
  Array(2),
  { toJSON: () => ({ stands: "in" }) },
  { toJSON: "a key like any other" },
  Object.create(null),
  Object.create({ inherited: 1 }),
  new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no");
      },
    },
  ),
  JSON.parse('{"__proto__":{"polluted":true},"a":1}'),
);
const mixed = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    jsonValue,
    odd,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("b", "a", "__proto__", "toJSON", ""), tie("value")),
  ),
})).value;

describe("short cuts for shallow values", () => {
  it("[R46][T-06] give the walk's own answer for every value, plain or not", () => {
    fc.assert(
      fc.property(mixed, (value) => {
        const text = encodeCanonicalJson(value);
        const walked = walkedText(value);
        assert.deepStrictEqual(Result.getOrUndefined(text), Result.getOrUndefined(walked));
        const copy = toJson(value);
        assert.deepStrictEqual(
          Result.getOrUndefined(copy),
          Result.getOrUndefined(walkedCopy(value)),
        );
      }),
      seeded("short cuts and the walk", 1_000),
    );
  });

  it("[R46] two values are the same only where their canonical texts are, and plain ones then are", () => {
    fc.assert(
      fc.property(fc.oneof(mixed, jsonValue), fc.oneof(mixed, jsonValue), (one, other) => {
        const [left, right] = [one, other].map((value) =>
          Result.getOrUndefined(encodeCanonicalJson(value)),
        );
        if (isSameShallow(one, other)) assert.strictEqual(left, right);
        const copy = shallowCopy(one);
        if (copy !== undefined && shallowText(one) !== undefined)
          assert.isTrue(isSameShallow(one, copy));
      }),
      seeded("equal values and equal texts", 1_000),
    );
    const few = fc.constantFrom<unknown>({}, [], { a: 1 }, { a: 0 }, { a: -0 }, [1], { 0: 1 });
    fc.assert(
      fc.property(few, few, (one, other) =>
        assert.strictEqual(isSameShallow(one, other), shallowText(one) === shallowText(other)),
      ),
      seeded("few values, equal and not", 200),
    );
  });

  it("[T-06] a hole of an array is the same as no value that JSON has", () => {
    assert.isFalse(isSameShallow(Array(1), [null]));
    assert.isFalse(isSameShallow([null], Array(1)));
  });

  it("[T-06] give up on what is not plain data, and on depth", () => {
    for (const value of [new Date(0), new Money(), cycle, throwing, undefined, nested(64)]) {
      assert.isUndefined(shallowText(value));
      assert.isUndefined(shallowCopy(value));
    }
  });

  it("[T-06] a copy is detached from what it was made of", () => {
    const list = [1];
    const copy = shallowCopy({ list });
    list.push(2);
    assert.deepStrictEqual(copy, { list: [1] });
  });
});
