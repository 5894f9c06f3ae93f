import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { assert, describe, it } from "vitest";
import { drilledMutations } from "#lib/testing/failpoints.ts";
import { neededRole, type OperatorAct } from "#server/operator/permissions.ts";

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const sources = readdirSync(path.join(root, "server/operator")).map((name) => ({
  name,
  text: read(`server/operator/${name}`),
}));

/** Acts that have no place in the drill, and why. */
const undrilled: Partial<Record<OperatorAct, string>> = {
  view: "reads",
  "read-diagnostics": "reads",
  "read-audit": "reads",
  "look-at-approval": "a claim that nothing depends on and that no crash need keep",
  "submit-input": "is the mutation `admit`",
  "verify-journal": "writes an audit row and nothing else",
  "create-sign-in-link": "is about people, not about runs",
  "set-own-password": "is about people, not about runs",
};

describe("the closed list of failpoints", () => {
  it("[PG-09] has every act of an operator, or says here why not", () => {
    const missing = Object.keys(neededRole).filter(
      (act) => !(act in undrilled) && !drilledMutations.some((mutation) => mutation === act),
    );
    assert.deepStrictEqual(missing, []);
  });

  it("[PG-09] has every command that is carried out once per command id, whatever its file", () => {
    const acts = sources
      .filter(({ name, text }) => name !== "run-command.ts" && text.includes("runCommand("))
      .map(({ text, name }) => /\bact: "([a-z-]+)"/.exec(text)?.[1] ?? name);
    assert.isAbove(acts.length, 8);
    const undone = acts.filter((act) => !drilledMutations.some((mutation) => mutation === act));
    assert.deepStrictEqual(undone, []);
  });

  it("[PG-09] has a place in the drill's host for each of them, before and after", () => {
    const host = ["drill-host.ts", "drill-operator.ts"]
      .map((name) => read(`tests/crash/${name}`))
      .join("\n");
    // Appends, admission and claim are wrapped by the layers of lib/testing/failpoints.ts.
    const named = drilledMutations.filter(
      (mutation) => !mutation.startsWith("append:") && mutation !== "admit" && mutation !== "claim",
    );
    const unplaced = named.filter((mutation) => !host.includes(`around("${mutation}")`));
    assert.deepStrictEqual(unplaced, []);
  });

  it("[PG-09] knows every file of server/operator that writes to a table", () => {
    const writing = sources
      .filter(({ text }) => /\b(INSERT INTO|UPDATE [a-z_]+ SET|DELETE FROM)\b/.test(text))
      .map(({ name }) => name)
      .toSorted();
    // Each is drilled by its act, or is named above by it, or is about signing in.
    assert.deepStrictEqual(writing, [
      "acknowledge-denial.ts",
      "create-sign-in-link.ts",
      "look-at-approval.ts",
      "probe-unknown.ts",
      "retry-run.ts",
      "run-command.ts",
      "seed-installation.ts",
      "set-password.ts",
      "sign-in-attempts.ts",
      "sign-out.ts",
      "start-sign-in.ts",
      "wake-run.ts",
    ]);
  });
});
