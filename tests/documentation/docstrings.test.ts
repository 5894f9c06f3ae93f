/** Whatever users can import says what it promises, where it is declared. */
import { describe, expect, it } from "vitest";
import { exportsOf, numbersOf, publicFiles } from "./public-exports.ts";

const exported = publicFiles().flatMap((file) => exportsOf(file));

describe("docstrings of what users import", () => {
  it("are read: the runtime, a policy field's type and a re-exported bound are found with theirs", () => {
    const docs = new Map(exported.map(({ docstring, name }) => [name, docstring]));
    expect(docs.get("run")).toContain("Runs an agent to its end");
    expect(docs.get("ApprovalRuleOptions")).toContain("never the model");
    expect(docs.get("defaultMaxTools")).toBeDefined();
    expect(exported.length).toBeGreaterThan(100);
  });

  it("are there for every value and type", () => {
    const without = exported
      .filter(({ docstring }) => docstring === undefined)
      .map(({ file, name }) => `${file}: ${name}`);
    expect([...new Set(without)].toSorted()).toEqual([]);
  });

  it("give each number that a user may set its bounds", () => {
    const numbers = [...new Set(exported.map(({ file }) => file))].flatMap(numbersOf);
    expect(numbers.length).toBeGreaterThan(10);
    const unbounded = numbers
      .filter(({ docstring }) => !/\d/.test(docstring ?? ""))
      .map(({ file, name }) => `${file}: ${name}`);
    expect(unbounded).toEqual([]);
  });

  it("begin with a sentence", () => {
    const others = exported
      .map(({ docstring = "", file, name }) => ({
        place: `${file}: ${name}`,
        first: docstring.split(/\n\s*(?:\n|[-@])/)[0] ?? "",
      }))
      .filter(({ first }) => first !== "" && !/[.:;`)]$/.test(first.trim()))
      .map(({ first, place }) => `${place}: ${first}`);
    expect(others).toEqual([]);
  });
});
