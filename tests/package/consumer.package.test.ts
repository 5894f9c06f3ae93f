/** The library as its users get it: packed, unpacked into an empty project, type-checked and run there. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { transformSync } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const examples = path.resolve(root, "../shared/seed-examples");
/** 07 and 08 show parts that come after the first release. */
const inThisRelease = /^0[1-6]-.*\.ts$/;

let project: string;
let packed: ReadonlyArray<string>;
let manifest: {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly scripts?: unknown;
};

beforeAll(() => {
  const before = readFileSync(path.join(root, "package.json"), "utf8");
  project = mkdtempSync(path.join(os.tmpdir(), "effect-agent-consumer-"));
  const output = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [tarball] = readdirSync(project).filter((name) => name.endsWith(".tgz"));
  expect(output).toContain("effect-agent");
  expect(readFileSync(path.join(root, "package.json"), "utf8")).toBe(before);
  expect(existsSync(path.join(root, "package.json.packing"))).toBe(false);
  const installed = path.join(project, "node_modules/effect-agent");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", [
    "-xzf",
    path.join(project, tarball ?? ""),
    "--strip-components=1",
    "-C",
    installed,
  ]);
  // npm would fetch the dependencies; the ones that are here are the same, and need no network. Only what the
  // packed manifest asks for is there, so a package that it forgets is missing here as it would be for a user.
  manifest = JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8"));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    const target = path.join(project, "node_modules", name);
    mkdirSync(path.dirname(target), { recursive: true });
    symlinkSync(path.join(root, "node_modules", name), target);
  }
  writeFileSync(
    path.join(project, "package.json"),
    JSON.stringify({ name: "consumer", private: true, type: "module" }),
  );
  packed = readdirSync(installed, { recursive: true, encoding: "utf8" });
}, 300_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

const typeCheck = (files: ReadonlyArray<string>, resolution: "bundler" | "nodenext") => {
  const options = {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: resolution === "bundler",
      target: "ES2023",
      lib: ["ESNext", "DOM", "DOM.Iterable"],
      module: resolution === "nodenext" ? "nodenext" : "esnext",
      moduleResolution: resolution,
      types: [],
    },
    files,
  };
  writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify(options));
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", project], {
    encoding: "utf8",
  });
  return { status, stdout };
};

it("the tarball holds the built library, its licence and its readme, and nothing of the host or the console", () => {
  const outside = packed.filter(
    (name) =>
      !/^(dist|dist\/lib(\/.*)?|dist\/cli(\/effect-agent\.js)?|package\.json|README\.md|LICENSE)$/.test(
        name,
      ),
  );
  expect(outside).toEqual([]);
  expect(packed).toContain("dist/lib/index.d.ts");
  expect(packed.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))).toEqual([]);
});

it("its manifest asks for what the library imports, for Effect as a peer, and for nothing else", () => {
  expect(Object.keys(manifest.dependencies)).toEqual(["@noble/hashes", "minisearch"]);
  expect(Object.keys(manifest.peerDependencies)).toEqual(["effect"]);
  expect(manifest.scripts).toBeUndefined();
});

const program = `
import { Agent } from "effect-agent";
import * as ToolExposure from "effect-agent/tool-exposure";
import { Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";

const Ping = Tool.make("ping", { success: Schema.String }).annotate(ToolExposure.PinnedTool, true);
const agent = Agent.make("pinger", { input: Schema.String, output: Schema.String, instructions: "Ping.", toolkit: Toolkit.make(Ping) });
const rows: ReadonlyArray<{ readonly name: string; readonly requiresHandler: boolean }> = Agent.inspectTools(agent);
console.log(JSON.stringify(rows.map((row) => row.name)));
`;

it.each(["bundler", "nodenext"] as const)(
  "a consumer's program type-checks with %s resolution",
  (resolution) => {
    writeFileSync(
      path.join(project, "program.ts"),
      `declare const console: { log(text: string): void };${program}`,
    );
    expect(typeCheck(["program.ts"], resolution)).toEqual({ status: 0, stdout: "" });
  },
);

it("the agent of the readme type-checks as it is printed", () => {
  const [, code] =
    /```ts run\n([\s\S]*?)```/.exec(readFileSync(path.join(root, "README.md"), "utf8")) ?? [];
  writeFileSync(path.join(project, "readme.ts"), code ?? "the readme has no code");
  expect(typeCheck(["readme.ts"], "bundler")).toEqual({ status: 0, stdout: "" });
});

/** What a user adds to the agent of the readme to see it act: a scripted model and something to print. */
const readmeRun = `
import { ScriptedModel, text, toolCalls } from "effect-agent/scripted-model";
const script = [
  toolCalls([{ id: "a", name: "find_order", params: { id: "7" } }]),
  toolCalls([{ id: "b", name: "refund", params: { orderId: "7", amount: 50 } }]),
  text("Refunded."),
];
const { output } = await Effect.runPromise(program.pipe(Effect.provide([handlers, ScriptedModel.layer(script)])));
const missing = ["next", "react", "@effect/sql-pg", "jsep"].filter((name) => {
  try { import.meta.resolve(name); return false; } catch { return true; }
});
console.log(JSON.stringify({ output, missing }));
`;

it("the agent of the readme runs there under plain Node, without the packages of the host and the console", () => {
  const [, code = ""] =
    /```ts run\n([\s\S]*?)```/.exec(readFileSync(path.join(root, "README.md"), "utf8")) ?? [];
  writeFileSync(
    path.join(project, "agent.mjs"),
    transformSync(code + readmeRun, { loader: "ts", format: "esm" }).code,
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, ["agent.mjs"], {
    cwd: project,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("paid 50 back for 7");
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    output: "Refunded.",
    missing: ["next", "react", "@effect/sql-pg", "jsep"],
  });
});

it("every public subpath loads there under plain Node", () => {
  const subpaths = packed.flatMap((name) => /^dist\/lib\/([^/.]+)\.js$/.exec(name)?.[1] ?? []);
  expect(subpaths).toEqual(expect.arrayContaining(["decision-model", "scripted-model"]));
  const specifiers = subpaths
    .map((name) => (name === "index" ? "effect-agent" : `effect-agent/${name}`))
    .concat("effect-agent/testing/MemoryHost");
  writeFileSync(
    path.join(project, "load.mjs"),
    `for (const name of ${JSON.stringify(specifiers)}) await import(name);`,
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, ["load.mjs"], {
    cwd: project,
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
});

it("a misuse is a type error there, so the types are really seen", () => {
  writeFileSync(
    path.join(project, "misuse.ts"),
    `import { Agent } from "effect-agent";\nAgent.make(1, {});\n`,
  );
  expect(typeCheck(["misuse.ts"], "bundler").stdout).toMatch(/misuse\.ts\(2,\d+\): error TS/);
});

it("the program runs under plain Node", () => {
  writeFileSync(
    path.join(project, "program.mjs"),
    program.replace(/: ReadonlyArray<[^=]*>(?= =)/, ""),
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, ["program.mjs"], {
    cwd: project,
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '["ping"]\n', stderr: "" });
});

it.runIf(existsSync(examples))("the documented examples 01 to 06 type-check unchanged", () => {
  const files = readdirSync(examples).filter((name) => inThisRelease.test(name));
  for (const name of files) cpSync(path.join(examples, name), path.join(project, name));
  expect(files).toHaveLength(6);
  expect(typeCheck(files, "bundler")).toEqual({ status: 0, stdout: "" });
});
