/** The layout of DATA_DIR/postgres, and the claim on it: one launcher starts or stops the server at a time. */
import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import * as Effect from "effect/Effect";
import type { Binaries } from "#server/postgres/embedded/binaries.ts";
import { hydrateLinks } from "#server/postgres/embedded/binaries.ts";
import type { DatabaseUser } from "#server/postgres/embedded/database-user.ts";
import { firstClosedParent } from "#server/postgres/embedded/database-user.ts";
import { EmbeddedPostgresRefused } from "#server/postgres/embedded/EmbeddedPostgresRefused.ts";
import { isAlive, processIdentity } from "#server/postgres/embedded/postmaster-pid.ts";

export interface PostgresFolder {
  /** DATA_DIR/postgres: passwords, the remembered port, the owner. Only the launcher reads it. */
  readonly control: string;
  /** Where PostgreSQL keeps its files: inside `control`, or elsewhere when the database user cannot get there. */
  readonly base: string;
  readonly data: string;
  readonly log: string;
}

/** Where files go that root owns and the database user must reach, when DATA_DIR is closed to it (as /root is). */
const relocated = "/var/lib/effect-agent";

const unwritable = (folder: string, cause: unknown) =>
  new EmbeddedPostgresRefused({
    reason: "folder-unwritable",
    message: `The data folder ${folder} cannot be written (${cause instanceof Error ? cause.message : "unknown reason"}): set DATA_DIR to a folder that this user may write.`,
  });

const baseFolder = (control: string, user: DatabaseUser | undefined): string => {
  if (user === undefined || firstClosedParent(path.join(control, "data"), user) === undefined)
    return control;
  const remembered = path.join(control, "location");
  if (existsSync(remembered)) {
    const location = readFileSync(remembered, "utf8").trim();
    if (existsSync(location)) return location;
  }
  mkdirSync(relocated, { recursive: true, mode: 0o755 });
  const location = mkdtempSync(path.join(relocated, "postgres-"));
  chmodSync(location, 0o755);
  writeFileSync(remembered, `${location}\n`);
  return location;
};

export const prepareFolder = Effect.fn("EmbeddedPostgres.prepareFolder")(
  (control: string, user: DatabaseUser | undefined) =>
    Effect.try({
      try: (): PostgresFolder => {
        mkdirSync(control, { recursive: true });
        // With another uid's files inside, the folder itself must let that uid pass through.
        if (user !== undefined) chmodSync(control, 0o755);
        accessSync(control, constants.W_OK | constants.X_OK);
        const base = baseFolder(control, user);
        return { control, base, data: path.join(base, "data"), log: path.join(base, "log") };
      },
      catch: (cause) => unwritable(control, cause),
    }),
);

/** A secret of this folder, made on the first start: 0600, owned by the launcher's user. */
export const secretOf = (control: string, name: string): string => {
  const file = path.join(control, name);
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const secret = randomBytes(24).toString("base64url");
  writeFileSync(`${file}.new`, `${secret}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return secret;
};

export const ownFolder = (folder: string, user: DatabaseUser | undefined): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
};

/** The programs, where `user` can execute them: the npm package, or a copy when its folder is closed to that user. */
export const reachablePrograms = Effect.fn("EmbeddedPostgres.reachablePrograms")(function* (
  binaries: Binaries,
  folder: PostgresFolder,
  user: DatabaseUser | undefined,
) {
  const closed =
    user !== undefined &&
    firstClosedParent(path.join(binaries.packageFolder, "native/bin/postgres"), user);
  if (!closed && hydrateLinks(binaries.packageFolder))
    return path.join(binaries.packageFolder, "native/bin");
  const copy = path.join(folder.base, `programs-${binaries.version}`);
  if (!existsSync(copy)) {
    rmSync(`${copy}.new`, { recursive: true, force: true });
    cpSync(binaries.packageFolder, `${copy}.new`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copy}.new`, copy);
  }
  if (hydrateLinks(copy)) return path.join(copy, "native/bin");
  return yield* new EmbeddedPostgresRefused({
    reason: "missing-binaries",
    message: `The bundled PostgreSQL in ${binaries.packageFolder} is incomplete: remove node_modules and run npm ci again, or set DATABASE_URL.`,
  });
});

const writeSelf = (file: string, flag: "w" | "wx"): void =>
  writeFileSync(file, `${processIdentity(process.pid)}\n`, { flag });

/** The pid in `file` if that very process still lives and is not this one. */
const otherLiving = (file: string): number | undefined => {
  if (!existsSync(file)) return undefined;
  const written = readFileSync(file, "utf8").trim();
  const pid = Number.parseInt(written, 10);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return undefined;
  return processIdentity(pid) === written ? pid : undefined;
};

/**
 * Whoever owns the server stops it. A launcher that finds a living owner only borrows the server; the owner file
 * of a killed launcher is taken over.
 */
export const takeOwnership = (control: string): boolean => {
  const file = path.join(control, "owner");
  if (otherLiving(file) !== undefined) return false;
  writeSelf(file, "w");
  return true;
};

export const giveUpOwnership = (control: string): void => {
  const file = path.join(control, "owner");
  if (otherLiving(file) === undefined) rmSync(file, { force: true });
};

/** Held while a launcher looks at the folder and starts the server, so that two never do so at once. */
export const startLock = (control: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const file = path.join(control, "start.lock");
      try {
        writeSelf(file, "wx");
        return Effect.succeed(file);
      } catch {
        const holder = otherLiving(file);
        if (holder !== undefined) {
          return Effect.fail(
            new EmbeddedPostgresRefused({
              reason: "folder-busy",
              message: `Another process (${holder}) is starting the database in ${control}: wait for it, or stop it and start again.`,
            }),
          );
        }
        writeSelf(file, "w");
        return Effect.succeed(file);
      }
    }),
    (file) => Effect.sync(() => rmSync(file, { force: true })),
  );
