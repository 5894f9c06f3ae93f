/** The program as its users run it: the packed file alone, in a folder without `node_modules`. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Effect } from "effect";
import { afterAll, assert, beforeAll, it } from "vitest";
import { closedLines, packOf, sampleRecords } from "#tests/proof/sample-pack.ts";

const root = path.resolve(import.meta.dirname, "../..");
let folder: string;
let texts: ReadonlyArray<string>;

beforeAll(async () => {
  execFileSync(process.execPath, ["scripts/build-library.mjs", "--lenient"], { cwd: root });
  folder = mkdtempSync(path.join(os.tmpdir(), "effect-agent-proof-"));
  cpSync(path.join(root, "dist/cli/effect-agent.js"), path.join(folder, "effect-agent.mjs"));
  texts = closedLines(packOf(await Effect.runPromise(sampleRecords)));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...words: ReadonlyArray<string>) =>
  spawnSync(process.execPath, ["effect-agent.mjs", ...words], { cwd: folder, encoding: "utf8" });
const save = (name: string, lines: ReadonlyArray<string>) => {
  writeFileSync(path.join(folder, name), `${lines.join("\n")}\n`);
  return name;
};

it("a true pack holds: plain words, exit code 0", () => {
  const { status, stdout, stderr } = run("verify", save("true.ndjson", texts));
  assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" });
  assert.include(stdout, "true.ndjson: everything holds.");
  assert.notInclude(stdout, "BROKEN");
});

it("an altered pack does not: it says where and what, exit code 1", () => {
  const altered = texts.map((line) => line.replace("op-2", "op-9"));
  const { status, stdout } = run("verify", save("altered.ndjson", altered));
  assert.strictEqual(status, 1);
  assert.match(
    stdout,
    /BROKEN {2}Every record follows[\s\S]*- record \d+: Its content is not what was digested/,
  );
});

it("what is written in a pack cannot speak to the terminal", () => {
  const hostile = texts.map((line) =>
    line.replace('"runId":"run-1"', '"runId":"\\u001b[2J\\u202erun"'),
  );
  const { stdout } = run("verify", save("hostile.ndjson", hostile));
  // oxlint-disable-next-line no-control-regex -- the very characters that must not come out
  assert.notMatch(stdout, /[\u001b\u202e]/);
});

it("a file that is not there and words that are not understood: exit code 2 and what to type", () => {
  assert.strictEqual(run("verify", "gone.ndjson").status, 2);
  for (const words of [
    [],
    ["verify"],
    ["check", "x"],
    ["verify", "a", "b"],
    ["verify", "a", "--known", "zz"],
  ]) {
    const { status, stderr } = run(...words);
    assert.strictEqual(status, 2);
    assert.include(stderr, "Usage: effect-agent verify FILE");
  }
});
