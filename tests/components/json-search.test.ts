import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { markOf } from "#components/json/json-marks.ts";
import { jsonRows } from "#components/json/json-rows.ts";
import { jsonHits, mostHits, revealing, weightUpTo } from "#components/json/json-search.ts";
import { exactFromValue, exactJsonText, parseExactJson } from "#lib/client/exact-json.ts";

const pathsOf = (text: string, wanted: string) =>
  jsonHits(parseExactJson(text), wanted).map(({ path }) => path);

describe("searching a JSON value", () => {
  it("[C051] names and values are found wherever they stand, closed containers included", () => {
    const deep = '{"a":{"b":{"c":{"d":{"e":{"marker":"rm -rf"}}}}},"list":["RM -RF",1]}';
    assert.deepStrictEqual(pathsOf(deep, "rm -rf"), ["$.a.b.c.d.e.marker", "$.list[0]"]);
    assert.deepStrictEqual(pathsOf(deep, "MARKER"), ["$.a.b.c.d.e.marker"]);
    assert.deepStrictEqual(pathsOf(deep, "  "), []);
    assert.deepStrictEqual(pathsOf('{"n":9007199254740993}', "740993"), ["$.n"]);
  });

  it("[C051] every match of any value can be brought into view, whatever was closed", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 7 }), fc.array(fc.nat(40)), (json, closed) => {
        const value = exactFromValue(json);
        const all = jsonRows(value, new Set()).map(({ path }) => path);
        const toggled = new Set(closed.flatMap((index) => all[index] ?? []));
        for (const hit of jsonHits(value, "e").slice(0, 20)) {
          const rows = jsonRows(value, revealing(value, toggled, hit.names));
          assert.include(
            rows.map(({ path }) => path),
            hit.path,
          );
        }
      }),
      { numRuns: 100 },
    );
  });

  it("[C079] stops at a number of matches that anybody steps through", () => {
    const many = JSON.stringify(Array.from({ length: mostHits + 50 }, () => "x"));
    assert.strictEqual(pathsOf(many, "x").length, mostHits);
  });

  it("[C079] a large value is known to be large without being written", () => {
    const value = exactFromValue({ text: "x".repeat(1_000_000), more: [1, 2, 3] });
    assert.strictEqual(weightUpTo(value, 524_288), 524_288);
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const exact = exactFromValue(json);
        const weight = weightUpTo(exact, 1e9);
        const { length } = exactJsonText(exact);
        assert.isTrue(weight <= length * 5 + 8 && length <= weight * 8 + 8, `${weight} ${length}`);
      }),
    );
  });
});

describe("marks of what is missing", () => {
  it("[C057][C081] redaction, cycles, bounds and cuts are named, and an ordinary value has none", () => {
    const marks = [
      ["[redacted]", "secrets hidden"],
      ["Bearer [redacted] and [truncated]", "secrets hidden, cut"],
      [{ _tag: "Omitted", reason: "cycle" }, "already shown above"],
      [{ _tag: "Omitted", reason: "redacted" }, "hidden on purpose"],
      [{ _tag: "Omitted", reason: "something later" }, "left out"],
      [
        { truncated: true, format: "json", originalBytes: 2_048, head: "a", tail: "b" },
        "cut, 2.0 KiB before",
      ],
      [{ cut: true, originalBytes: 512, head: "a" }, "cut, 512 B before"],
      ["redacted", undefined],
      [{ truncated: false }, undefined],
      [{ reason: "cycle" }, undefined],
      [5, undefined],
      [[], undefined],
    ] as const;
    for (const [value, words] of marks) assert.strictEqual(markOf(exactFromValue(value)), words);
  });
});
