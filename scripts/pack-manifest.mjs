/**
 * What `npm pack` puts in the tarball is the library, and the repository's manifest lists what the host and the
 * console need too. npm reads the manifest again after `prepack` and runs `postpack` when the tarball is made:
 *
 *     prepack:  node scripts/pack-manifest.mjs trim      writes the library's own manifest
 *     postpack: node scripts/pack-manifest.mjs restore   puts the repository's back, byte for byte
 *
 * The repository's is kept in `package.json.packing` meanwhile, so a pack that was killed can be undone too.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./lib/steps.mjs";

const file = path.join(root, "package.json");
const kept = path.join(root, "package.json.packing");

/** The two forms in which built code names another module; examples inside comments never start a line. */
const imports = [
  /^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"([^".][^"\s]*)"/gm,
  /\bimport\("([^".][^"\s]*)"\)/g,
];

/** Pure: the packages that a built module names, without the paths inside them. */
export const importedPackages = (built) =>
  imports
    .flatMap((form) => [...built.matchAll(form)].map((match) => match[1] ?? ""))
    .filter((specifier) => !specifier.startsWith("node:"))
    .map((specifier) =>
      specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/"),
    );

/**
 * Pure: the manifest of the library. Only what it imports is asked of its users, in the versions it is tested
 * with; Effect as a peer, because services and schemas are only the same in one copy of it.
 *
 * @param imported names of the packages that the built library imports
 */
export const libraryManifest = (manifest, imported) => {
  const {
    allowScripts: _allowScripts,
    dependencies,
    devDependencies: _devDependencies,
    exports,
    imports: _imports,
    overrides: _overrides,
    scripts: _scripts,
    ...library
  } = manifest;
  const own = [...new Set(imported)].toSorted();
  const unlisted = own.filter((name) => !Object.hasOwn(dependencies, name));
  if (unlisted.length > 0)
    throw new Error(
      `The library imports ${unlisted.join(", ")}, which package.json does not list.`,
    );
  const versions = (names) => Object.fromEntries(names.map((name) => [name, dependencies[name]]));
  return {
    ...library,
    exports: Object.fromEntries(
      Object.entries(exports).map(([subpath, target]) => [subpath, withoutSources(target)]),
    ),
    dependencies: versions(own.filter((name) => name !== "effect")),
    peerDependencies: versions(own.filter((name) => name === "effect")),
  };
};

/** The sources that this repository's own tests resolve to are not in the tarball. */
const withoutSources = (target) => {
  if (typeof target === "string") return target;
  const { "effect-agent-source": _source, ...built } = target;
  return built;
};

const builtModules = () => {
  const folder = path.join(root, "dist/lib");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js") || name.endsWith(".d.ts"))
    .map((name) => readFileSync(path.join(folder, name), "utf8"));
};

const restore = () => {
  if (existsSync(kept)) renameSync(kept, file);
};

const trim = () => {
  restore();
  const text = readFileSync(file, "utf8");
  const trimmed = libraryManifest(JSON.parse(text), builtModules().flatMap(importedPackages));
  writeFileSync(kept, text);
  writeFileSync(file, `${JSON.stringify(trimmed, null, 2)}\n`);
};

if (process.argv[1] === import.meta.filename) {
  const actions = { trim, restore };
  const [, , action = ""] = process.argv;
  if (!Object.hasOwn(actions, action)) throw new Error("pack-manifest.mjs trim | restore");
  actions[action]();
}
