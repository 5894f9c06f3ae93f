/**
 * What a pass does first: it goes on with archives whose runs are in the tables as
 * well, so that no run comes into a second file. Those that are not in the pass's
 * folder are left, with their runs, and told.
 */
import * as Effect from "effect/Effect";
import { makeArchiveRows, type PendingArchive } from "./archive-rows.ts";
import type { makeBatches } from "./batch.ts";
import { clearPartials, listArchives } from "./check-archive.ts";

const heldLine = ({ archive, copies, folder, isRestored }: PendingArchive): string =>
  `${archive}: ${copies} runs stay, because they stand in this archive and it is not here; ${isRestored ? "they were brought back from it" : `an earlier pass wrote it to ${folder ?? "a folder"} and did not finish`}. Run a pass with its folder, or give the archive up with --abandon ${archive}`;

export const makeGoOn = Effect.fnUntraced(function* (
  batches: Effect.Success<typeof makeBatches>,
  onProgress: (line: string) => Effect.Effect<void>,
) {
  const archiveRows = yield* makeArchiveRows;

  /** @returns what was taken out, and how many runs are held because their archive is not here */
  return Effect.fnUntraced(function* (folder: string | undefined, olderThanSeconds: number) {
    const total = { threads: 0, runs: 0, records: 0, held: 0 };
    if (folder !== undefined) yield* clearPartials(folder);
    const files = new Set(folder === undefined ? [] : yield* listArchives(folder));
    const finish = Effect.fnUntraced(function* (name: string, why: string, sha256?: string) {
      if (folder === undefined) return;
      const counts = yield* batches.finishOne(folder, name, sha256);
      total.threads += counts.threads;
      total.runs += counts.runs;
      total.records += counts.records;
      yield* onProgress(`${name}: finished, ${why}, ${counts.runs} runs`);
    });
    for (const pending of yield* archiveRows.pending(olderThanSeconds)) {
      const { archive, copies, isRestored, isWritten } = pending;
      if (files.has(archive))
        yield* finish(
          archive,
          isRestored ? "brought back long ago" : "begun by an earlier pass",
          pending.sha256,
        );
      else if (!isWritten && !isRestored && pending.folder === folder)
        yield* archiveRows.forget(pending);
      else if (copies > 0) {
        total.held += copies;
        yield* onProgress(heldLine(pending));
      }
    }
    // The database was restored from a backup that is older than the file.
    const known = yield* archiveRows.names;
    for (const name of files) if (!known.has(name)) yield* finish(name, "unknown to this database");
    return total;
  });
});
