/** One archive file: written beside its place, synced to disk, and only then put there under its name. */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { ArchiveLine, archiveVersion, type Manifest, manifestOf } from "./archive-format.ts";

/** The archive's folder cannot be written or read; the message says what the system said. */
export class ArchiveRefused extends Schema.TaggedError<ArchiveRefused>()("ArchiveRefused", {
  message: Schema.String,
}) {}

export const attempt = <A>(what: string, action: () => A): Effect.Effect<A, ArchiveRefused> =>
  Effect.try({
    try: action,
    catch: (error) =>
      new ArchiveRefused({
        message: `${what} failed: ${error instanceof Error ? error.message : String(error)}`,
      }),
  });

const encodeLine = Schema.encodeSync(ArchiveLine);

/** A rename is on disk when its folder is. */
const syncFolder = (folder: string): void => {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

const writeWhole = (file: string, text: string): void => {
  const handle = openSync(`${file}.partial`, "w", 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.partial`, file);
};

export interface OpenArchive {
  readonly name: string;
  readonly bytes: () => number;
  readonly write: (line: ArchiveLine) => Effect.Effect<void, ArchiveRefused>;
  /** Nothing was worth keeping: the file is taken away again. */
  readonly discard: Effect.Effect<void>;
  /** Everything is on disk, under no name yet; nothing can be written any more. */
  readonly seal: (counts: {
    readonly threads: number;
    readonly runs: number;
    readonly records: number;
  }) => Effect.Effect<Manifest, ArchiveRefused>;
  /** From here on the archive is there and complete, whatever happens to this process. */
  readonly publish: (manifest: Manifest) => Effect.Effect<void, ArchiveRefused>;
}

/** Readable by its owner only: it holds private evidence. A file that is not finished is left as `.partial`. */
export const openArchive = (folder: string, tenantId: string, olderThanSeconds: number) =>
  Effect.gen(function* () {
    const createdAt = yield* Clock.currentTimeMillis;
    const moment = new Date(createdAt).toISOString().replaceAll(/[-:.]/g, "");
    const name = `${tenantId}-${moment}-${process.pid}.jsonl`;
    const file = path.join(folder, name);
    const handle = yield* Effect.acquireRelease(
      attempt(`Opening the archive ${file}`, () => {
        mkdirSync(folder, { recursive: true });
        return openSync(`${file}.partial`, "wx", 0o600);
      }),
      (open) => Effect.ignore(attempt("Closing the archive", () => closeSync(open))),
    );
    const hash = createHash("sha256");
    let bytes = 0;
    const write = (line: ArchiveLine) =>
      attempt(`Writing the archive ${file}`, () => {
        const text = Buffer.from(`${JSON.stringify(encodeLine(line))}\n`);
        hash.update(text);
        for (let written = 0; written < text.length;) written += writeSync(handle, text, written);
        bytes += text.length;
      });
    yield* write({
      kind: "archive",
      version: archiveVersion,
      tenantId,
      olderThanSeconds,
      createdAt,
    });
    return {
      name,
      bytes: () => bytes,
      write,
      discard: Effect.ignore(attempt("Discarding the archive", () => rmSync(`${file}.partial`))),
      seal: (counts) =>
        attempt(`Finishing the archive ${file}`, () => {
          fsyncSync(handle);
          const sha256 = hash.digest("hex");
          return {
            version: archiveVersion,
            file: name,
            tenantId,
            sha256,
            bytes,
            ...counts,
            createdAt,
          } satisfies Manifest;
        }),
      publish: (manifest) =>
        attempt(`Finishing the archive ${file}`, () => {
          // The manifest first: a file under its own name always has one.
          writeWhole(manifestOf(file), `${JSON.stringify(manifest, null, 2)}\n`);
          renameSync(`${file}.partial`, file);
          syncFolder(folder);
        }),
    } satisfies OpenArchive;
  });
