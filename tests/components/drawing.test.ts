import { assert, describe, it } from "@effect/vitest";
import * as fc from "fast-check";
import { jsonRows, openEntries } from "#components/json/json-rows.ts";
import { childPath } from "#lib/client/json-place.ts";
import { inputKind, inputOfText, startingText } from "#components/runs/agent-input.ts";
import { exposureDiff } from "#components/runs/exposure-diff.ts";
import { safeNext, tokenFromAddress } from "#components/sign-in/sign-in-address.ts";
import { barOf, makeScale, merged } from "#components/timeline/positions.ts";
import { bytesText, cappedText, durationText } from "#components/ui/durations.ts";
import { momentOf } from "#components/ui/zoned-time.ts";
import { exactFromValue, parseExactJson } from "#lib/client/exact-json.ts";
import { visibleText } from "#lib/contract/json/visible-text.ts";

const stretch = fc
  .tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 0, max: 50_000 }))
  .map(([from, length]) => ({ from, to: from + length }));

describe("timeline positions", () => {
  it("[C091] later is never left of earlier, and everything stays inside", () => {
    fc.assert(
      fc.property(
        fc.array(stretch, { minLength: 1, maxLength: 20 }),
        fc.array(fc.integer({ min: -10, max: 1_100_000 })),
        (busy, times) => {
          const scale = makeScale(busy, busy);
          const places = times.toSorted((left, right) => left - right).map(scale.at);
          for (const [index, place] of places.entries()) {
            assert.isTrue(place >= 0 && place <= 1);
            assert.isAtLeast(place, places[index - 1] ?? 0);
          }
        },
      ),
    );
  });

  it("[C091] contradicting times give a mark and never a negative width", () => {
    const scale = makeScale([{ from: 0, to: 100 }], [{ from: 0, to: 100 }]);
    const bar = barOf(scale, 80, 20);
    assert.isTrue(bar.skewed);
    assert.isAbove(bar.width, 0);
  });

  it("a day of waiting between two seconds of work is folded, so that the work stays visible", () => {
    const busy = [
      { from: 0, to: 1_000 },
      { from: 86_400_000, to: 86_401_000 },
    ];
    const scale = makeScale(busy, [{ from: 0, to: 86_401_000 }]);
    assert.strictEqual(scale.folds.length, 1);
    assert.isAbove(scale.at(1_000), 0.4);
  });

  it("merging keeps exactly the time that was covered", () => {
    fc.assert(
      fc.property(
        fc.array(stretch, { maxLength: 12 }),
        fc.integer({ min: 0, max: 1_050_000 }),
        (stretches, moment) => {
          const inside = (all: ReadonlyArray<{ from: number; to: number }>): boolean =>
            all.some(({ from, to }) => moment >= from && moment <= to);
          assert.strictEqual(inside(merged(stretches)), inside(stretches));
        },
      ),
    );
  });
});

describe("JSON rows", () => {
  it("[C051] every member has a row of its own path, an empty container says that it is empty", () => {
    const rows = jsonRows(parseExactJson('{"a":{"b c":[1,{}]},"":null}'), new Set());
    assert.deepStrictEqual(
      rows.map((row) => row.path),
      ["$", "$.a", '$.a["b c"]', '$.a["b c"][0]', '$.a["b c"][1]', '$[""]'],
    );
  });

  it("a large container starts closed and opens on demand", () => {
    const value = parseExactJson(
      `{"list":[${Array.from({ length: openEntries + 1 }, () => "1").join(",")}]}`,
    );
    assert.strictEqual(jsonRows(value, new Set()).length, 2);
    assert.strictEqual(jsonRows(value, new Set(["$.list"])).length, openEntries + 3);
  });

  it("a key can never be taken for an index or for two keys", () => {
    assert.notStrictEqual(childPath("$", "0"), childPath("$", 0));
    assert.notStrictEqual(childPath(childPath("$", "a"), "b"), childPath("$", "a.b"));
  });
});

describe("text that other consoles choke on", () => {
  it("[C087] 5,000 nested quotes and 100,000 stars are text, whole and unchanged", () => {
    for (const text of ["> ".repeat(5_000), "*".repeat(100_000), "[".repeat(50_000)]) {
      assert.deepStrictEqual(visibleText(text), { text, hidden: [] });
      const [row] = jsonRows(exactFromValue(text), new Set());
      assert.strictEqual(row?.value.kind === "string" ? row.value.value : "", text);
    }
  });
});

describe("sign-in address", () => {
  it("takes the token out of the fragment or the query and leaves the rest", () => {
    assert.deepStrictEqual(
      tokenFromAddress({ pathname: "/sign-in", search: "?next=%2Fruns", hash: "#token=t1" }),
      {
        token: "t1",
        cleaned: "/sign-in?next=%2Fruns",
      },
    );
    assert.deepStrictEqual(
      tokenFromAddress({ pathname: "/sign-in", search: "?token=t2", hash: "" }),
      { token: "t2", cleaned: "/sign-in" },
    );
    assert.isUndefined(tokenFromAddress({ pathname: "/sign-in", search: "", hash: "" }));
  });

  it("never leads to another site", () => {
    for (const next of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "javascript:alert(1)",
      "/\t/evil.example",
      "/sign-in?next=/",
      null,
    ]) {
      assert.strictEqual(safeNext(next), "/approvals", String(next));
    }
    assert.strictEqual(safeNext("/runs/run-1?view=records"), "/runs/run-1?view=records");
  });
});

describe("agent input", () => {
  it("[C059] words stay words; JSON keeps its types and refuses numbers that would change", () => {
    const words = inputKind({ type: "string" });
    assert.deepStrictEqual(inputOfText(words, "5"), { input: "5" });
    const field = inputKind({
      type: "object",
      properties: { request: { type: "string" } },
      required: ["request"],
    });
    assert.deepStrictEqual(inputOfText(field, "5"), { input: { request: "5" } });
    assert.strictEqual(startingText(field, { request: "hello" }), "hello");
    const json = inputKind({ type: "object", properties: { amount: { type: "number" } } });
    assert.deepStrictEqual(inputOfText(json, '{"amount":null,"text":"","list":[]}'), {
      input: { amount: null, text: "", list: [] },
    });
    assert.property(inputOfText(json, '{"amount":9007199254740993}'), "problem");
  });
});

describe("words for numbers", () => {
  it("[OP-10] lengths, sizes and counts carry their units, and a capped count says so", () => {
    assert.deepStrictEqual([0, 840, 4_210, 61_000, 7_500_000, 90_000_000].map(durationText), [
      "0 ms",
      "840 ms",
      "4.2 s",
      "1 min 1 s",
      "2 h 5 min",
      "1 d 1 h",
    ]);
    assert.deepStrictEqual([512, 3_277, 262_144].map(bytesText), ["512 B", "3.2 KiB", "256 KiB"]);
    assert.strictEqual(cappedText({ value: 10_000, capped: true }), "10,000+");
  });

  it("an exposure diff names what came and what went", () => {
    assert.deepStrictEqual(exposureDiff(["a", "b"], ["b", "c"]), { added: ["c"], removed: ["a"] });
  });
});

describe("times in a zone", () => {
  it("[C089] a typed time is the moment at which a clock there shows it, also on a day of a clock change", () => {
    const at = (text: string, zone: string): string =>
      new Date(momentOf(text, zone) ?? 0).toISOString();
    assert.strictEqual(at("2026-11-30T04:00", "UTC"), "2026-11-30T04:00:00.000Z");
    assert.strictEqual(at("2026-11-30T04:00", "Asia/Kathmandu"), "2026-11-29T22:15:00.000Z");
    assert.strictEqual(at("2026-03-29T01:30", "Europe/Berlin"), "2026-03-29T00:30:00.000Z");
    assert.strictEqual(at("2026-03-29T03:30", "Europe/Berlin"), "2026-03-29T01:30:00.000Z");
    assert.strictEqual(at("2026-10-25T04:00", "Europe/Berlin"), "2026-10-25T03:00:00.000Z");
    assert.isUndefined(momentOf("yesterday", "UTC"));
  });
});
