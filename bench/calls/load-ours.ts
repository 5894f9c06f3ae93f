/**
 * Our side as its users run it: plain JavaScript, bundled once. tsx would add a call to every function that is
 * made at run time, and the peers are plain JavaScript too.
 */
import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Contender, Workload } from "./workload.ts";

export const loadOurs = async (
  workload: Workload,
): Promise<{ readonly ours: Contender; readonly upstream: Contender }> => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  // Of this process alone: a clone that shares these files must not change what is measured here.
  const outfile = path.join(root, `node_modules/.cache/bench/calls-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: ["bench/calls/ours.ts"],
    bundle: true,
    // Effect stays the installed package, as it is for everybody else.
    packages: "external",
    format: "esm",
    target: "es2023",
    outfile,
  });
  process.once("exit", () => rmSync(outfile, { force: true }));
  const module = (await import(pathToFileURL(outfile).href)) as {
    readonly makeOurs: (work: Workload) => Contender;
    readonly makeUpstream: (work: Workload) => Contender;
  };
  return { ours: module.makeOurs(workload), upstream: module.makeUpstream(workload) };
};
