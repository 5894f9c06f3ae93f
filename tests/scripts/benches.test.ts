import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  describeBenches,
  firstSentence,
  listBenches,
  needsInstall,
} from "../../scripts/lib/benches.mjs";

const root = path.resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-benches-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the benches of `npm run bench`", () => {
  it("are the folders of bench/ that have a main.ts, each with a sentence that says what it measures", () => {
    const benches = listBenches(path.join(root, "bench"));
    expect(benches.map(({ name }) => name)).toContain("discovery");
    for (const { name, says } of benches) expect(`${name}: ${says}`).toMatch(/: .{10,}\.$/);
    expect(describeBenches(benches).split("\n")).toHaveLength(benches.length);
  });

  it("are described by the first sentence of their opening comment, wherever its lines break", () => {
    const source = "/**\n * Reads v1.5 files:\n * all of them. And more.\n */\nimport a;";
    expect(firstSentence(source)).toBe("Reads v1.5 files: all of them.");
    expect(firstSentence("import a;")).toBe("");
  });

  it("have their peers installed when these are missing or older than the lock file", () => {
    expect(needsInstall(folder)).toBe(false);
    const lock = path.join(folder, "package-lock.json");
    const installed = path.join(folder, "node_modules/.package-lock.json");
    writeFileSync(lock, "{}");
    expect(needsInstall(folder)).toBe(true);
    mkdirSync(path.dirname(installed));
    writeFileSync(installed, "{}");
    utimesSync(lock, 1_000, 1_000);
    expect(needsInstall(folder)).toBe(false);
    utimesSync(installed, 500, 500);
    expect(needsInstall(folder)).toBe(true);
  });

  it("name no registry host in a committed lock file", () => {
    for (const { name } of listBenches(path.join(root, "bench"))) {
      const lock = path.join(root, "bench", name, "peers/package-lock.json");
      if (existsSync(lock)) expect(readFileSync(lock, "utf8")).not.toMatch(/"resolved": "http/);
    }
  });
});
