import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import {
  exactAt,
  ExactJsonUnreadable,
  exactJsonText,
  parseExactJson,
} from "#lib/client/exact-json.ts";

describe("exact JSON", () => {
  it("[C051] numbers stay as written, however many digits they have", () => {
    for (const text of [
      "9007199254740993",
      "0.1000",
      "1e400",
      "-0",
      "123456789012345678901234567890.5",
    ]) {
      assert.strictEqual(exactJsonText(parseExactJson(`{"n":${text}}`)), `{"n":${text}}`);
    }
  });

  it("keeps key order and duplicate keys, and names the last of them", () => {
    const value = parseExactJson('{"b":1,"a":2,"b":3}');
    assert.strictEqual(exactJsonText(value), '{"b":1,"a":2,"b":3}');
    assert.deepStrictEqual(exactAt(value, ["b"]), { kind: "number", text: "3" });
  });

  it("a key that would change a prototype is a key like any other", () => {
    const value = parseExactJson('{"__proto__":{"x":1},"constructor":2}');
    assert.deepStrictEqual(exactAt(value, ["__proto__", "x"]), { kind: "number", text: "1" });
    assert.isUndefined(exactAt(value, ["toString"]));
  });

  it("any JSON value round-trips, compact and indented", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const text = JSON.stringify(value);
        const exact = parseExactJson(text);
        assert.deepStrictEqual(JSON.parse(exactJsonText(exact, indent)), JSON.parse(text));
        assert.deepStrictEqual(parseExactJson(exactJsonText(exact, indent)), exact);
      }),
    );
  });

  it("accepts exactly what JSON.parse accepts", () => {
    const alphabet = fc.constantFrom(...'{}[]":,0123456789eE+-.truefalsn\\u \n');
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 12 }), (letters) => {
        const text = letters.join("");
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        if (valid) parseExactJson(text);
        else assert.throws(() => parseExactJson(text), ExactJsonUnreadable);
      }),
      { numRuns: 3_000 },
    );
  });

  it("refuses a nesting that would overflow the stack, with a sentence", () => {
    assert.throws(() => parseExactJson("[".repeat(100_000)), /Nested deeper than 512/);
  });
});
