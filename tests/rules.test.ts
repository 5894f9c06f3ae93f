import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  parseRules,
  readPending,
  readRules,
  ruleIdsIn,
  ruleIdsInSource,
  rulesNamedByTests,
} from "../scripts/lib/rules.mjs";

const rules = readRules();
const core = rules.filter((rule) => rule.when === "CORE").map((rule) => rule.id);
const named = rulesNamedByTests();
const pending: ReadonlyArray<string> = readPending();

describe("the rules of docs/rules.md", () => {
  it("are each listed once", () => {
    const ids = rules.map((rule) => rule.id);
    expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
    expect(ids).toHaveLength(213);
  });

  it("that are CORE and not pending are named by a test", () => {
    expect(core.filter((id) => !named.has(id) && !pending.includes(id))).toEqual([]);
  });

  it("that are pending are CORE and really unproven: the list shrinks with each proof", () => {
    expect(pending.filter((id) => named.has(id))).toEqual([]);
    expect(pending.filter((id) => !core.includes(id))).toEqual([]);
    expect([...pending]).toEqual([...new Set(pending)].toSorted());
  });

  it("are the only ones that tests name", () => {
    const known = new Set(rules.map((rule) => rule.id));
    expect([...named.keys()].filter((id) => !known.has(id))).toEqual([]);
  });
});

describe("reading rule ids", () => {
  /** Spelled out below it would count as a proof of these rules. */
  const open = "[";

  it("takes them from brackets in names, alone or together, and from nowhere else", () => {
    expect(ruleIdsIn(`${open}D-07] a claim`)).toEqual(["D-07"]);
    expect(ruleIdsIn(`${open}A-06]${open}DX-07] ${open}PG-01, Z-02] a claim about B-01`)).toEqual([
      "A-06",
      "DX-07",
      "PG-01",
      "Z-02",
    ]);
  });

  it("takes no proof from a comment", () => {
    expect(ruleIdsInSource(`// ${open}D-07] planned\nit("${open}D-08] holds", run)`)).toEqual([
      "D-08",
    ]);
  });

  it("takes a rule only from a whole row", () => {
    expect(parseRules("| D-07 | CORE | Bounded. |\n| D-08 | SOON | No. |\n")).toEqual([
      { id: "D-07", when: "CORE", promise: "Bounded." },
    ]);
    expect(readFileSync("docs/rules.md", "utf8")).toContain("tests/rules-pending.json");
  });
});
