import { Buffer } from "node:buffer";
import fc from "fast-check";
import { assert, describe, it } from "vitest";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { cutLongValue } from "#lib/durable/record-events.ts";
import { type CutPlaces, cutJsonText } from "#server/views/cut-json-text.ts";
import { hostileString, jsonValue, nested } from "#tests/contract-json/arbitrary-json.ts";

const places: CutPlaces = {
  calls: { "*": { parameters: "cut", result: "cut" } },
  declared: { parameters: "cut" },
  result: "cut",
};

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The slow way: the parsed value, with the values at the places cut. */
const cutParsed = (value: Json, place: CutPlaces | undefined, most: number): Json => {
  if (place === undefined) return value;
  if (place === "cut") return cutLongValue(value, most);
  const inside = (key: string): CutPlaces | undefined =>
    Object.hasOwn(place, key) ? place[key] : undefined;
  if (Array.isArray(value)) return value.map((one) => cutParsed(one, inside("*"), most));
  if (!isObject(value)) return value;
  const cut: Record<string, Json> = {};
  for (const [key, held] of Object.entries(value))
    Object.defineProperty(cut, key, {
      value: cutParsed(held, inside(key), most),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return cut;
};

const parse = (text: string): Json => JSON.parse(text) as Json;
const bytesOf = (value: Json) => Buffer.from(canonicalJson(value), "utf8");

/** Values in and beside the places, also ones that look like what is searched for. */
const record: fc.Arbitrary<Json> = fc.record(
  {
    _tag: hostileString,
    calls: fc.oneof(
      fc.array(
        fc.record(
          { callId: hostileString, parameters: jsonValue, result: jsonValue, index: jsonValue },
          { requiredKeys: [] },
        ),
        { maxLength: 4 },
      ),
      jsonValue,
    ),
    declared: fc.record({ parameters: jsonValue, calls: jsonValue }, { requiredKeys: [] }),
    other: fc.record({ result: jsonValue, calls: jsonValue }),
    result: fc.oneof(
      jsonValue,
      fc.string({ minLength: 900, maxLength: 1_400, unit: "binary" }),
      fc.string({ maxLength: 60, unit: fc.constantFrom("\\", '"', "a") }),
    ),
    "*": jsonValue,
  },
  { requiredKeys: [] },
);

describe("JSON text with its long values cut", () => {
  it("is what cutting the parsed values gives, at those places and nowhere else", () => {
    let cutValues = 0;
    fc.assert(
      fc.property(fc.oneof(record, jsonValue), fc.integer({ min: 0, max: 60 }), (value, most) => {
        const { cuts, text } = cutJsonText(bytesOf(value), places, most);
        cutValues += cuts.length;
        assert.strictEqual(
          canonicalJson(parse(text)),
          canonicalJson(cutParsed(value, places, most)),
        );
      }),
      { numRuns: 2_000 },
    );
    assert.isAbove(cutValues, 1_000);
  });

  it("says where each cut value stands, byte for byte", () => {
    fc.assert(
      fc.property(record, fc.integer({ min: 0, max: 20 }), (value, most) => {
        const bytes = bytesOf(value);
        for (const { from, path, to } of cutJsonText(bytes, places, most).cuts) {
          const held = path.reduce<unknown>(
            (at, key) => Reflect.get(at as object, key),
            parse(bytes.toString("utf8")),
          );
          assert.strictEqual(bytes.toString("utf8", from, to), canonicalJson(held as Json));
        }
      }),
    );
  });

  it("shows whole characters, whatever they are made of", () => {
    for (const one of ["a", "é", "€", "😀", "\u0000", "\ud800", "a😀", '"\\']) {
      const value = { result: one.repeat(3_000) };
      const { text } = cutJsonText(bytesOf(value), places, 2_048);
      assert.deepStrictEqual(parse(text), { result: cutLongValue(value.result, 2_048) });
    }
  });

  it("takes a value of any depth", () => {
    const value = { result: nested(200_000), turn: 1 };
    const { cuts, text } = cutJsonText(bytesOf(value), places, 2_048);
    assert.strictEqual(cuts.length, 1);
    assert.deepStrictEqual(parse(text), { result: cutLongValue(value.result, 2_048), turn: 1 });
  });

  it("does not make JSON of text that ends in the middle or is something else", () => {
    const whole = bytesOf({ calls: [{ parameters: "x".repeat(50) }], result: [1, 2, 3], turn: 1 });
    for (let length = 0; length < whole.length; length++) {
      const { text } = cutJsonText(whole.subarray(0, length), places, 10);
      assert.throws(() => parse(text));
    }
    for (const broken of ['{"result":1', '{"result" 1}', "[}", '{"calls":[{]}', "\\", "}", '"', ""])
      assert.throws(
        () => parse(cutJsonText(Buffer.from(broken), places, 1_000).text),
        SyntaxError,
        undefined,
        broken,
      );
  });
});
