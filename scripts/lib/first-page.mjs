/** How many bytes of JavaScript the landing page makes a browser load, gzipped, read off Next's own manifests. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./steps.mjs";

const page = "app/(console)/approvals/page";

/** Pure: the chunks of a page's client reference manifest; layouts above it are part of the page's own entry. */
export const entryChunks = (manifestScript, entry) => {
  const start = manifestScript.indexOf("] = {");
  if (start < 0) return [];
  const manifest = JSON.parse(manifestScript.slice(start + "] = ".length).replace(/;\s*$/, ""));
  return Object.entries(manifest.entryJSFiles ?? {})
    .filter(([name]) => name === entry)
    .flatMap(([, files]) => files);
};

/** @returns {{ chunks: number, bytes: number } | undefined} undefined before a build */
export const firstPageWeight = () => {
  const folder = path.join(root, ".next/server", page);
  const references = `${folder}_client-reference-manifest.js`;
  const build = path.join(folder, "build-manifest.json");
  if (!existsSync(references) || !existsSync(build)) return undefined;
  const own = entryChunks(readFileSync(references, "utf8"), `[project]/${page}`);
  const chunks = [...new Set([...own, ...JSON.parse(readFileSync(build, "utf8")).rootMainFiles])];
  const bytes = chunks
    .map((chunk) => path.join(root, ".next", chunk))
    .filter((file) => existsSync(file))
    .reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  return { chunks: chunks.length, bytes };
};
