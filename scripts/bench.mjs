/**
 * `npm run bench -- NAME [options]`: runs `bench/NAME/main.ts`, built as the product is (tsx would add a call to
 * every function made at run time, which no user of the product pays). Without a name, or with one that does not exist,
 * it prints the list. A bench with peers has them installed first, into `bench/NAME/peers`.
 */
import path from "node:path";
import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { describeBenches, listBenches, needsInstall } from "./lib/benches.mjs";
import { root } from "./lib/steps.mjs";

const spawn = (program, args, cwd) => {
  const { status, error } = spawnSync(program, args, { cwd, stdio: "inherit" });
  if (error !== undefined) console.error(String(error));
  return status ?? 1;
};

/** Beside its source, so that what a bench finds relative to itself stays where it is. */
const buildBench = async (folder) => {
  const outfile = path.join(folder, ".main.built.mjs");
  await build({
    absWorkingDir: root,
    entryPoints: [path.join(folder, "main.ts")],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    conditions: ["effect-agent-source"],
    logLevel: "warning",
  });
  return outfile;
};

const main = async () => {
  const [name, ...options] = process.argv.slice(2);
  const benches = listBenches(path.join(root, "bench"));
  if (!benches.some((bench) => bench.name === name)) {
    if (name !== undefined) console.error(`There is no bench named ${name}.`);
    console.error(`npm run bench -- NAME [options]\n\n${describeBenches(benches)}`);
    return name === undefined ? 0 : 1;
  }
  const folder = path.join(root, "bench", name);
  const peers = path.join(folder, "peers");
  if (needsInstall(peers)) {
    const code = spawn("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], peers);
    if (code !== 0) return code;
  }
  // From the root, so that paths among the options mean what they mean to the person who typed them.
  return spawn(process.execPath, [await buildBench(folder), ...options], root);
};

process.exitCode = await main();
