/**
 * Builds the library part into dist/lib: JavaScript and declarations that resolve for a consumer. And the program
 * `effect-agent` into dist/cli: one file that needs nothing but Node.
 * `--lenient` (npm's `prepare`, run by every install) reports type errors without failing the install;
 * `npm run check` is where they fail.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const output = path.join(root, "dist/lib");
const lenient = process.argv.includes("--lenient");

/**
 * Pure: sources name each other by their files, `#lib/a/b.ts` or `./b.ts`; what is built names what is built,
 * relative to `fromFolder` (the file's folder below dist/lib).
 */
export const rewriteSpecifiers = (text, fromFolder) =>
  text.replace(/(["'])(#lib\/|\.\.?\/)([^"'\n]*?)\.tsx?\1/g, (_, quote, start, rest) => {
    if (start !== "#lib/") return `${quote}${start}${rest}.js${quote}`;
    const relative = path.posix.relative(fromFolder, rest);
    return `${quote}${relative.startsWith(".") ? relative : `./${relative}`}.js${quote}`;
  });

const rewriteFolder = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) rewriteFolder(file);
    else if (/\.(js|d\.ts)$/.test(entry.name)) {
      const text = readFileSync(file, "utf8");
      const next = rewriteSpecifiers(text, path.relative(output, folder).split(path.sep).join("/"));
      if (next !== text) writeFileSync(file, next);
    }
  }
};

/** tsc writes declarations only: it would refuse the `#lib` aliases, which it cannot rewrite. */
const emitJavaScript = async () => {
  const { build } = await import("esbuild");
  const sources = readdirSync(path.join(root, "lib"), { recursive: true, encoding: "utf8" });
  await build({
    absWorkingDir: root,
    entryPoints: sources
      .filter((name) => name.endsWith(".ts"))
      .map((name) => path.join("lib", name)),
    outbase: "lib",
    outdir: output,
    format: "esm",
    target: "es2023",
    logLevel: "warning",
  });
};

/** Whoever checks a proof pack may have no `node_modules` at all. */
const bundleProgram = async () => {
  const { build } = await import("esbuild");
  const program = path.join(root, "dist/cli/effect-agent.js");
  await build({
    absWorkingDir: root,
    entryPoints: ["cli/effect-agent.ts"],
    outfile: program,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["effect-agent-source"],
    logLevel: "warning",
  });
  chmodSync(program, 0o755);
};

const main = async () => {
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  if (!existsSync(compiler)) {
    // `npm ci --omit=dev` has no compiler; the host runs from its bundle and needs no library build.
    console.log("build-library: typescript is not installed, skipped");
    return 0;
  }
  if (!existsSync(path.join(root, "lib/index.ts"))) {
    console.log("build-library: lib/index.ts does not exist yet, skipped");
    return 0;
  }
  rmSync(output, { recursive: true, force: true });
  const run = spawnSync(process.execPath, [compiler, "-p", path.join(root, "tsconfig.lib.json")], {
    cwd: root,
    encoding: "utf8",
  });
  await emitJavaScript();
  rewriteFolder(output);
  await bundleProgram();
  if (run.status === 0) return 0;
  console.error(run.stdout.split("\n").slice(0, 20).join("\n"));
  console.error("build-library: the library has type errors (run `npm run check:types`)");
  return lenient ? 0 : 1;
};

if (process.argv[1] === import.meta.filename) process.exit(await main());
