/** `npm run rules`: what is proven and what is not. `--write` takes proven rules off the pending list, never adds any. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { readPending, readRules, rulesNamedByTests } from "./lib/rules.mjs";
import { root } from "./lib/steps.mjs";

const named = rulesNamedByTests();
const core = readRules().filter((rule) => rule.when === "CORE");
const pending = readPending();
const unlisted = core.filter((rule) => !named.has(rule.id) && !pending.includes(rule.id));
if (process.argv.includes("--write")) {
  const left = pending.filter((id) => !named.has(id)).sort();
  writeFileSync(path.join(root, "tests/rules-pending.json"), `${JSON.stringify(left)}\n`);
}
for (const rule of core.filter((candidate) => !named.has(candidate.id)))
  console.log(`unproven ${rule.id}: ${rule.promise}`);
console.log(
  `${core.filter((rule) => named.has(rule.id)).length} of ${core.length} CORE rules are named by a test, ${unlisted.length} unproven and not pending`,
);
