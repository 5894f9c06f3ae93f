/** Reads the rules out of docs/rules.md and the rule ids out of test names. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./steps.mjs";

/** Pure: the rows of the tables in docs/rules.md. */
export const parseRules = (markdown) =>
  [...markdown.matchAll(/^\| +([A-Z]{1,2}-\d{2}) +\| +(CORE|NEXT|LATER) +\| +(.+?) +\|$/gm)].map(
    ([, id, when, promise]) => ({ id, when, promise }),
  );

/** Pure: the ids a test's name carries, in one or several brackets. */
export const ruleIdsIn = (text) =>
  [...text.matchAll(/\[((?:[A-Z]{1,2}-\d{2}(?:,?\s*)?)+)\]/g)].flatMap(
    ([, ids]) => ids.match(/[A-Z]{1,2}-\d{2}/g) ?? [],
  );

/** Pure: ids in string literals of a test's source, so that a comment proves nothing. */
export const ruleIdsInSource = (source) =>
  [...source.matchAll(/(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g)].flatMap(([, , text]) =>
    ruleIdsIn(text),
  );

export const readRules = () => parseRules(readFileSync(path.join(root, "docs/rules.md"), "utf8"));

export const readPending = () =>
  JSON.parse(readFileSync(path.join(root, "tests/rules-pending.json"), "utf8"));

/** @returns {Map<string, string[]>} rule id -> test files that name it */
export const rulesNamedByTests = () => {
  const named = new Map();
  for (const name of readdirSync(path.join(root, "tests"), { recursive: true, encoding: "utf8" })) {
    if (!/\.(test|e2e)\.tsx?$/.test(name)) continue;
    for (const id of ruleIdsInSource(readFileSync(path.join(root, "tests", name), "utf8")))
      named.set(id, [...(named.get(id) ?? []), name]);
  }
  return named;
};
