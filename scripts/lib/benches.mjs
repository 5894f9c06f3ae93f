/** The benches of this repository: one folder of `bench/` each, whose `main.ts` opens with a comment that says what it measures. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Pure: the first sentence of a file's opening comment. */
export const firstSentence = (source) => {
  const comment = /^\s*\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? "";
  const prose = comment
    .replace(/^\s*\*? ?/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
  return /^.*?[.](?=\s|$)/.exec(prose)?.[0] ?? prose;
};

/** @returns {ReadonlyArray<{ name: string, says: string }>} */
export const listBenches = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(folder, entry.name, "main.ts")))
    .map(({ name }) => ({
      name,
      says: firstSentence(readFileSync(path.join(folder, name, "main.ts"), "utf8")),
    }))
    .toSorted((left, right) => left.name.localeCompare(right.name));

export const describeBenches = (benches) => {
  const width = Math.max(0, ...benches.map(({ name }) => name.length));
  return benches.map(({ name, says }) => `  ${name.padEnd(width)}  ${says}`).join("\n");
};

/**
 * A bench may compare us with packages that the product does not depend on. They live in its folder `peers`, a
 * package of its own (so that `#lib/...` still means ours beside it), and npm leaves a copy of the lock file there, so an older copy means that they must be installed again.
 */
export const needsInstall = (folder) => {
  const lock = path.join(folder, "package-lock.json");
  const installed = path.join(folder, "node_modules/.package-lock.json");
  if (!existsSync(lock)) return false;
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs;
};
