import { assert, describe, it } from "@effect/vitest";
import fc from "fast-check";
import { visibleText, wellFormedText } from "#lib/contract/json/visible-text.ts";
import { hostileString } from "./arbitrary-json.ts";

const mustNotBeLeft = /(?![\n\t])[\p{Cc}\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/u;

describe("visible text", () => {
  it("[C054] every character that hides or reorders text is written as an escape and named", () => {
    const shown = visibleText("a\u202Eb\u2066c\u200Bd\uFEFFe\u2028f\u{E0100}g\rh\u001Bi\u0000");
    assert.strictEqual(
      shown.text,
      "a\\u{202E}b\\u{2066}c\\u{200B}d\\u{FEFF}e\\u{2028}f\\u{E0100}g\\u{000D}h\\u{001B}i\\u{0000}",
    );
    assert.deepStrictEqual(
      shown.hidden.map(({ name }) => name),
      [
        "RIGHT-TO-LEFT OVERRIDE",
        "LEFT-TO-RIGHT ISOLATE",
        "ZERO WIDTH SPACE",
        "BYTE ORDER MARK",
        "LINE SEPARATOR",
        "VARIATION SELECTOR",
        "CARRIAGE RETURN",
        "ESCAPE",
        "NUL",
      ],
    );
    assert.strictEqual(shown.hidden[0]?.codePoint, 0x202e);
  });

  it("[C054] Cyrillic and Greek letters in a Latin host are escaped, whole words of another script are not", () => {
    const shown = visibleText("pay https://аррle.com/ now");
    assert.strictEqual(shown.text, "pay https://\\u{0430}\\u{0440}\\u{0440}le.com/ now");
    assert.strictEqual(shown.hidden.length, 2);
    assert.strictEqual(visibleText("gοοgle.com").hidden.length, 1);
    for (const text of ["Привет, мир", "сайт.рф", "5 μs and Δx", "Ελλάδα", "naïve Ünal"]) {
      assert.deepStrictEqual(visibleText(text), { text, hidden: [] });
    }
  });

  it("emoji sequences and the joiners that scripts need stay whole, and the same characters elsewhere do not", () => {
    for (const text of ["❤️ 👨‍👩‍👧 👍🏽 1️⃣", "می‌خواهم", "line\nline\ttab"]) {
      assert.deepStrictEqual(visibleText(text), { text, hidden: [] });
    }
    assert.strictEqual(visibleText("pay\u200Dpal 5\uFE0F0").text, "pay\\u{200D}pal 5\\u{FE0F}0");
    assert.strictEqual(visibleText("a\nb\tc", { singleLine: true }).text, "a\\u{000A}b\\u{0009}c");
  });

  it("[C054] no text leaves a hidden character unescaped, and escaping changes nothing twice", () => {
    fc.assert(
      fc.property(hostileString, (text) => {
        const shown = visibleText(text);
        assert.isTrue(shown.text.isWellFormed());
        assert.notMatch(shown.text, mustNotBeLeft);
        assert.strictEqual(shown.text === text, shown.hidden.length === 0);
        assert.strictEqual(visibleText(shown.text).text, shown.text);
      }),
      { numRuns: 1_000 },
    );
  });

  it("[PG-06] [R45] a text for a text column has no NUL and no lone surrogate, and is otherwise unchanged", () => {
    assert.strictEqual(
      wellFormedText("a\u0000b\ud800c😀\udc00\u202E"),
      "a\\u{0000}b\\u{D800}c😀\\u{DC00}\u202E",
    );
    fc.assert(
      fc.property(hostileString, (text) => {
        const shown = wellFormedText(text);
        assert.isTrue(shown.isWellFormed() && !shown.includes("\u0000"));
        if (text.isWellFormed() && !text.includes("\u0000")) assert.strictEqual(shown, text);
      }),
    );
  });

  it("a megabyte of hidden characters is escaped in time that grows with its length only", () => {
    const shown = visibleText("\u200B".repeat(1_000_000));
    assert.strictEqual(shown.text.length, 8_000_000);
    assert.strictEqual(shown.hidden.length, 1);
  });
});
