/** docs/cases.md holds what it says: every case, and for each a test that exists or the reason why there is none. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const page = readFileSync(path.join(root, "docs/cases.md"), "utf8");

/** The cases of the catalogue that this release was built against, as their numbers run. */
const cases =
  `01 02 03 04 05 07 08 10 12 14 15 16 18 19 20 22 23 24 25 27 28 29 30 32 34 35 36 38 39
  41 42 43 45 46 48 49 51 52 54 55 56 58 59 61 62 64 66 67 69 71 72 73 74 76 77 78 79 81 83 84 85 87 88 89`
    .split(/\s+/)
    .map((number) => `R${number}`);
const consoleCases =
  `01 02 03 05 07 08 10 11 13 14 16 18 20 21 22 23 25 26 27 29 30 31 32 34 36 37 39 40 41 42 43 45 46 48 49 51 53
  54 55 56 57 59 61 62 64 66 67 69 70 71 73 74 76 78 79 80 81 82 83 86 87 88 89 91 93 94 96 97 98 99 101 102 103
  104 106 108`
    .split(/\s+/)
    .map((number) => `C${number.padStart(3, "0")}`);
const scenarios = Array.from({ length: 25 }, (_, index) => `Scenario ${index + 1}`);

interface Entry {
  readonly name: string;
  readonly tests: ReadonlyArray<{ readonly file: string; readonly title: string }>;
  readonly reasons: ReadonlyArray<string>;
}

const readEntries = (markdown: string): ReadonlyArray<Entry> => {
  const entries: Array<{
    name: string;
    tests: Array<Entry["tests"][number]>;
    reasons: Array<string>;
  }> = [];
  for (const line of markdown.split("\n")) {
    const name = /^- \*\*([RC]\d+|Scenario \d+)\*\* /.exec(line)?.[1];
    if (name !== undefined) entries.push({ name, tests: [], reasons: [] });
    const [, file, title] = /^ {2}- `(tests\/[^`]+)`: `(.+)`$/.exec(line) ?? [];
    if (file !== undefined && title !== undefined) entries.at(-1)?.tests.push({ file, title });
    const reason = /^ {2}- (?:No test|Limits|Falls short): (.+)$/.exec(line)?.[1];
    if (reason !== undefined) entries.at(-1)?.reasons.push(reason);
  }
  return entries;
};

const entries = readEntries(page);

/** Source text as a title reads it: escapes of quotes and line breaks of long names are no part of a name. */
const sources = new Map<string, string>();
const sourceOf = (file: string): string => {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const full = path.join(root, file);
  const text = existsSync(full) ? readFileSync(full, "utf8").replaceAll("\\", "") : "";
  sources.set(file, text);
  return text;
};

/** A test of this name, whatever rule ids stand before it. */
const isTitle = (file: string, title: string): boolean => {
  const escaped = title.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(["'\`])(?:\\[[^\\]]*\\] ?)*${escaped}\\1`).test(sourceOf(file));
};

describe("docs/cases.md", () => {
  it("has every case and every scenario once, in order", () => {
    expect(entries.map(({ name }) => name)).toEqual([...cases, ...scenarios, ...consoleCases]);
  });

  it("names for each a test or says why there is none", () => {
    expect(
      entries
        .filter(({ reasons, tests }) => tests.length + reasons.length === 0)
        .map(({ name }) => name),
    ).toEqual([]);
  });

  it("names only tests that exist", () => {
    const missing = entries.flatMap(({ name, tests }) =>
      tests
        .filter(({ file, title }) => !isTitle(file, title))
        .map(({ file, title }) => `${name}: ${file} has no test "${title}"`),
    );
    expect(missing).toEqual([]);
  });

  it("knows every case that a test claims in its name", () => {
    const claimed = readdirSync(path.join(root, "tests"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts") || name.endsWith(".e2e.ts"))
      .flatMap(
        (name) => sourceOf(path.join("tests", name)).match(/(?<=\[)(?:R\d{2}|C\d{3})(?=\])/g) ?? [],
      );
    expect([...new Set(claimed)].filter((id) => ![...cases, ...consoleCases].includes(id))).toEqual(
      [],
    );
  });
});
