/** The package's own folder, from a source file or from the bundle in dist: what it ships lies below it. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const find = (folder: string): string => {
  if (existsSync(path.join(folder, "package.json"))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? process.cwd() : find(parent);
};

export const packageRoot = find(path.dirname(fileURLToPath(import.meta.url)));
