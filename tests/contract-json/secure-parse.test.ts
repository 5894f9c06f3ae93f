import { assert, describe, it } from "@effect/vitest";
import * as Result from "effect/Result";
import fc from "fast-check";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { defaultJsonLimits } from "#lib/contract/json/json-bounds.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";
import { seeded } from "#tests/support/seeded.ts";
import { jsonValue } from "./arbitrary-json.ts";

const verdict = (text: string): string => {
  const result = parseJson(text);
  if (Result.isSuccess(result)) return `value ${canonicalJson(result.success)}`;
  const error = result.failure;
  return error._tag === "JsonTextInvalid"
    ? `${error.reason} ${error.path}`
    : `${error._tag} ${error.limit}`;
};

describe("secure parsing", () => {
  it("[T-15] a prototype key is refused however it is spelled and however deep it lies", () => {
    assert.strictEqual(verdict('{"a":[{"__proto__":{"x":1}}]}'), "prototype-key $.a[0].__proto__");
    assert.strictEqual(verdict('{"\\u005f_proto__":1}'), "prototype-key $.__proto__");
    assert.strictEqual(
      verdict('{"constructor":{"prototype":{}}}'),
      "prototype-key $.constructor.prototype",
    );
    assert.strictEqual(
      verdict('{"constructor":{"name":"x"},"prototype":1,"a":"__proto__"}').slice(0, 5),
      "value",
    );
  });

  it("[R46] a number that a double would change is refused; every other one is exact", () => {
    for (const text of [
      "9007199254740993",
      "1e400",
      "-1e400",
      "1e-400",
      "0.1234567890123456789",
      "123456789012345678901",
    ]) {
      assert.strictEqual(verdict(`{"n":[0,${text}]}`), "inexact-number $.n[1]", text);
    }
    for (const text of [
      "9007199254740992",
      "0.1",
      "1E2",
      "100",
      "1.50",
      "-0",
      "1e23",
      "5e-324",
      "1.7976931348623157e308",
      "0e99",
    ]) {
      const result = Result.getOrThrow(parseJson(text));
      assert.isTrue(Object.is(result, Number(text)), text);
    }
  });

  it("a key that appears twice is refused, and a comma or brace inside a string confuses nothing", () => {
    assert.strictEqual(
      verdict('{"amount":5,"to":{"amount":1},"\\u0061mount":999999}'),
      "duplicate-key $.amount",
    );
    assert.strictEqual(
      verdict('{"a":"},{\\"a\\":1,\\\\","b":[{"a":1},{"a":2}]}'),
      'value {"a":"},{\\"a\\":1,\\\\","b":[{"a":1},{"a":2}]}',
    );
  });

  it("[R36] text that is not JSON is a typed error that never repeats the text", () => {
    for (const text of [
      "",
      "{",
      '{"token":"canary-secret',
      "undefined",
      "{'a':1}",
      "[1,]",
      "NaN",
    ]) {
      const result = parseJson(text);
      assert.isTrue(Result.isFailure(result), text);
      if (Result.isFailure(result)) {
        assert.strictEqual(result.failure._tag, "JsonTextInvalid");
        assert.notInclude(result.failure.message, "canary");
      }
    }
  });

  it("[R45] NUL, lone surrogates and a byte order mark come through as they were written", () => {
    assert.strictEqual(
      verdict('\uFEFF{"a":"\\u0000\\ud800\\ufeff"}'),
      'value {"a":"\\u0000\\ud800\ufeff"}',
    );
  });

  it("[R49] the size is refused before the text is parsed", () => {
    // Not JSON at all: only the size check can answer this.
    assert.strictEqual(verdict("{".repeat(1_048_577)), "JsonBoundExceeded bytes");
    assert.strictEqual(verdict(`"${"é".repeat(600_000)}"`), "JsonBoundExceeded bytes");
  });

  it("[R48] 5,000 nested arrays and 400,000 nested objects are refused by depth", () => {
    assert.strictEqual(
      verdict(`${"[".repeat(5_000)}${"]".repeat(5_000)}`),
      "JsonBoundExceeded depth",
    );
    const limits = { ...defaultJsonLimits, bytes: 10_000_000 };
    const result = parseJson(`${'{"a":'.repeat(400_000)}1${"}".repeat(400_000)}`, limits);
    assert.isTrue(Result.isFailure(result) && result.failure._tag === "JsonBoundExceeded");
  });

  it("every canonical text without prototype keys parses to a value of the same text", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value);
        fc.pre(!/__proto__|constructor/.test(text));
        assert.strictEqual(verdict(text), `value ${text}`);
      }),
      { numRuns: 500 },
    );
  });

  it("[T-15][R46] text without white space, which is read in fewer steps, has the verdict of the same text with some", () => {
    const key = fc.constantFrom(
      '"a"',
      '"b"',
      '"1"',
      '"__proto__"',
      '"constructor"',
      '"prototype"',
      '"\\u0061"',
    );
    const written = fc.letrec<{ text: string }>((tie) => ({
      text: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          "0",
          "-0",
          "1.0",
          "1e3",
          "0.1",
          "9007199254740993",
          "1e400",
          "true",
          "null",
        ),
        fc.constantFrom('"x"', '"\\/"', '"\\ud800"', '"__proto__"', '"é"'),
        fc.array(tie("text"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
        fc
          .array(fc.tuple(key, tie("text")), { maxLength: 3 })
          .map((pairs) => `{${pairs.map((pair) => pair.join(":")).join(",")}}`),
      ),
    })).text;
    fc.assert(
      fc.property(written, (text) => assert.strictEqual(verdict(text), verdict(`${text}\n`))),
      seeded("text with and without white space", 3_000),
    );
  });

  it("any text gets a verdict, never an exception", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseJson(text)));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "\\", "1", "-", "e", "a")),
        (parts) => void parseJson(parts.join("")),
      ),
    );
  });
});
