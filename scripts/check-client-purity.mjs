/**
 * What reaches a browser: every "use client" file is bundled, and the bundle may hold nothing of the server, the
 * engine, Effect AI or Node. Lint sees one import; this sees the whole chain behind it.
 */
import { readdirSync, readFileSync, existsSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { firstPageWeight } from "./lib/first-page.mjs";
import { root } from "./lib/steps.mjs";

const forbiddenFiles = [/^server\//, /^lib\/engine\//, /^tests\//, /^lib\/(?!contract\/|client\/)/];
const forbiddenPackages = [
  /^node:/,
  /^effect$/,
  /^effect\/unstable\/(ai|sql|cluster|http|httpapi|rpc)/,
  /^@effect\//,
];

const filesUnder = (folder) =>
  existsSync(path.join(root, folder))
    ? readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
        path.posix.join(folder, name.split(path.sep).join("/")),
      )
    : [];

const isClientEntry = (file) =>
  /\.tsx?$/.test(file) &&
  /^\s*(?:\/\*[\s\S]*?\*\/\s*|\/\/.*\n\s*)*["']use client["']/.test(
    readFileSync(path.join(root, file), "utf8"),
  );

/** Pure: from a bundler's account of its inputs to sentences, each with the file that pulled the fault in. */
export const impurities = (inputs) => {
  const found = [];
  for (const [file, { imports }] of Object.entries(inputs)) {
    if (forbiddenFiles.some((pattern) => pattern.test(file))) {
      const importer = Object.entries(inputs).find(([, input]) =>
        input.imports.some((entry) => entry.path === file),
      )?.[0];
      found.push(`${file} reaches the browser through ${importer ?? 'its own "use client"'}`);
    }
    for (const entry of imports) {
      if (entry.external && forbiddenPackages.some((pattern) => pattern.test(entry.path)))
        found.push(`${file} brings ${entry.path} into the browser`);
    }
  }
  return found;
};

const main = async () => {
  const entries = ["app", "components", "lib/client"]
    .flatMap(filesUnder)
    .filter((file) =>
      file.startsWith("lib/client/") ? file.endsWith(".ts") : isClientEntry(file),
    );
  if (entries.length === 0) {
    console.log("client purity: no client files yet");
    return 0;
  }
  const result = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: "unused",
    bundle: true,
    write: false,
    metafile: true,
    packages: "external",
    format: "esm",
    platform: "browser",
    jsx: "automatic",
    conditions: ["effect-agent-source"],
    loader: { ".css": "empty", ".svg": "empty" },
    logLevel: "error",
  });
  const found = impurities(result.metafile.inputs);
  for (const line of found) console.error(line);
  console.log(
    `client purity: ${entries.length} client files, ${Object.keys(result.metafile.inputs).length} modules, ${found.length} faults`,
  );
  const weight = firstPageWeight();
  if (weight !== undefined) {
    console.log(
      `landing page: ${(weight.bytes / 1024).toFixed(0)} KiB of JavaScript in ${weight.chunks} files, gzipped`,
    );
  }
  return found.length === 0 ? 0 : 1;
};

if (process.argv[1] === import.meta.filename) process.exit(await main());
