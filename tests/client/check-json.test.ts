import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { checkJson, pathInMessage } from "#lib/client/check-json.ts";
import { exactChanges, mostChanges } from "#lib/client/exact-diff.ts";
import { exactAt, parseExactJson } from "#lib/client/exact-json.ts";
import { offsetsOf } from "#lib/client/json-place.ts";

const schema = {
  type: "object",
  properties: {
    amount: { $ref: "#/$defs/Cents" },
    note: { anyOf: [{ type: "string", maxLength: 5 }, { type: "null" }] },
    tags: { type: "array", items: { enum: ["a", "b"] }, maxItems: 2 },
  },
  required: ["amount"],
  additionalProperties: false,
  $defs: { Cents: { type: "integer", minimum: 1 } },
};

const problems = (text: string) =>
  checkJson(text, schema).problems.map(({ line, message }) => `${line}: ${message}`);

describe("a JSON text while it is typed", () => {
  it("[C059] every typed value is what it is: 5, null, true, empty text, list and object are told apart", () => {
    assert.deepStrictEqual(problems('{"amount": 5, "note": null, "tags": []}'), []);
    assert.deepStrictEqual(problems('{"amount": 5, "note": ""}'), []);
    for (const [wrong, said] of [
      ['"5"', "1: $.amount must be an integer, not a string."],
      ["null", "1: $.amount must be an integer, not null."],
      ["true", "1: $.amount must be an integer, not a boolean."],
      ["[]", "1: $.amount must be an integer, not an array."],
      ["5.5", "1: $.amount must be an integer, not a number."],
      ["0", "1: $.amount must be at least 1."],
    ] as const)
      assert.deepStrictEqual(problems(`{"amount": ${wrong}}`), [said]);
  });

  it("[C059] a fault is named at the line of its field", () => {
    const text = '{\n  "amount": 5,\n  "tags": [\n    "a",\n    "c"\n  ],\n  "extra": 1\n}';
    assert.deepStrictEqual(problems(text), [
      '5: $.tags[1] must be one of "a", "b".',
      "7: $.extra is not known here.",
    ]);
    assert.deepStrictEqual(problems('{\n"note": "too long"}'), [
      '1: $ needs "amount".',
      "2: $.note fits none of its 2 allowed shapes.",
    ]);
  });

  it("[C059][T-15] a broken text, a repeated key and a number that a double changes are named with their line", () => {
    assert.match(problems('{\n  "amount": 5,\n  oops\n}')[0] ?? "", /^3: /);
    assert.match(problems('{"amount": 5,\n "amount": 6}')[0] ?? "", /^2: .*same key twice/);
    assert.match(problems('{\n"amount": 9007199254740993}')[0] ?? "", /^2: .*would change/);
    assert.deepStrictEqual(problems("  "), ["1: There is no value yet."]);
  });

  it("a schema that refers to itself, to nothing, or is none leaves the verdict to the server", () => {
    const loop = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } };
    for (const odd of [loop, { $ref: "#/$defs/gone" }, { $ref: "http://x" }, null, true, [], "x"])
      assert.deepStrictEqual(checkJson('{"a":1}', odd).problems, []);
  });

  it("the place that the server's decoder names is found in the text", () => {
    assert.strictEqual(
      pathInMessage('Expected number, got "5"\n  at ["items"][2]["a b"]'),
      '$.items[2]["a b"]',
    );
    assert.strictEqual(pathInMessage("no place"), "$");
  });

  it("every path of any value is found in its text", () => {
    const paths = (value: unknown, path = "$"): ReadonlyArray<string> => {
      if (typeof value !== "object" || value === null) return [path];
      return [
        path,
        ...Object.entries(value).flatMap(([name, inner]) =>
          paths(
            inner,
            Array.isArray(value)
              ? `${path}[${name}]`
              : /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name)
                ? `${path}.${name}`
                : `${path}[${JSON.stringify(name)}]`,
          ),
        ),
      ];
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 2 : 0);
        const offsets = offsetsOf(text);
        for (const path of paths(JSON.parse(text))) assert.isTrue(offsets.has(path), path);
      }),
      { numRuns: 200 },
    );
  });
});

describe("what is different between two values", () => {
  const changed = (before: string, after: string) =>
    exactChanges(parseExactJson(before), parseExactJson(after)).map(({ path }) => path);

  it("[C059] names each path that was changed, added or taken away, by the text of numbers", () => {
    assert.deepStrictEqual(
      changed('{"a":1,"b":[1,2],"c":{"d":"x"}}', '{"a":1.0,"b":[1],"c":{"d":"y","e":null}}'),
      ["$.a", "$.b[1]", "$.c.d", "$.c.e"],
    );
    assert.deepStrictEqual(changed("5", '"5"'), ["$"]);
    assert.deepStrictEqual(changed("{}", "[]"), ["$"]);
    assert.deepStrictEqual(changed('{"a":{}}', '{"a":{}}'), []);
  });

  it("stops at a number that a person reads", () => {
    const many = (text: string) => JSON.stringify(Array.from({ length: 500 }, () => text));
    assert.strictEqual(changed(many("a"), many("b")).length, mostChanges);
  });

  it("both sides of a change are the values at its path", () => {
    const before = parseExactJson('{"a":{"b":[1,{"c":2}]}}');
    const after = parseExactJson('{"a":{"b":[1,{"c":3}]}}');
    const [change] = exactChanges(before, after);
    assert.deepStrictEqual(change?.before, exactAt(before, ["a", "b", 1, "c"]));
    assert.deepStrictEqual(change?.after, exactAt(after, ["a", "b", 1, "c"]));
  });
});
