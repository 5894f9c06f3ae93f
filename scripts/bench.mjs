/**
 * `npm run bench -- NAME [options]`: runs `bench/NAME/main.ts`. Without a name, or with one that does not exist,
 * it prints the list. A bench with peers has them installed first, into `bench/NAME/peers`.
 */
import path from "node:path";
import { spawnSync } from "node:child_process";
import { describeBenches, listBenches, needsInstall } from "./lib/benches.mjs";
import { root } from "./lib/steps.mjs";

const spawn = (program, args, cwd) => {
  const { status, error } = spawnSync(program, args, { cwd, stdio: "inherit" });
  if (error !== undefined) console.error(String(error));
  return status ?? 1;
};

const main = () => {
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
  const tsx = path.join(root, "node_modules/tsx/dist/cli.mjs");
  return spawn(process.execPath, [tsx, path.join(folder, "main.ts"), ...options], root);
};

process.exitCode = main();
