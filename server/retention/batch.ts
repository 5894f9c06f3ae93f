/** One batch of a retention pass: what is read into an archive, taken out of the tables, and written down. */
import * as Effect from "effect/Effect";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { TenantId } from "#lib/contract/ids.ts";
import type { Actor } from "#lib/contract/records.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { transaction } from "#server/postgres/Database.ts";
import type { Manifest } from "./archive-format.ts";
import { makeArchiveRows } from "./archive-rows.ts";
import { checkArchive } from "./check-archive.ts";
import { recordsOf, runsOf, type Segment } from "./find-segments.ts";
import { makeReadSegment } from "./read-segment.ts";
import { makeRemoveSegment } from "./remove-segment.ts";
import { ArchiveRefused, openArchive } from "./write-archive.ts";

/** A batch, and with it an archive file, ends after so many threads or bytes. */
const maxBatchThreads = 50;
const maxBatchBytes = 64 * 1_048_576;

export const retentionActor: Actor = { kind: "system", id: "retention", name: "retention" };

export interface BatchCounts {
  readonly threads: number;
  readonly runs: number;
  readonly records: number;
}

const countsOf = (segments: ReadonlyArray<Segment>): BatchCounts => ({
  threads: new Set(segments.map((segment) => segment.threadId)).size,
  runs: segments.reduce((sum, segment) => sum + runsOf(segment).length, 0),
  records: segments.reduce((sum, segment) => sum + recordsOf(segment), 0),
});

export const makeBatches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const audit = yield* Audit;
  const readSegment = yield* makeReadSegment;
  const removeSegment = yield* makeRemoveSegment;
  const archiveRows = yield* makeArchiveRows;

  /** Takes the segments out, one transaction each, then says so in the audit and in the list of archives. */
  const remove = Effect.fnUntraced(function* (
    tenantId: TenantId,
    segments: ReadonlyArray<Segment>,
    manifest: Manifest | undefined,
  ) {
    if (manifest !== undefined) yield* archiveRows.written(manifest);
    const gone: Array<Segment> = [];
    for (const segment of segments)
      if (yield* removeSegment(segment, manifest?.file ?? null)) gone.push(segment);
    const counts = countsOf(gone);
    const note = Effect.gen(function* () {
      if (manifest !== undefined) yield* archiveRows.finish(manifest);
      yield* audit.append({
        tenantId,
        actor: retentionActor,
        verb: manifest === undefined ? "delete-runs" : "archive-runs",
        target: manifest?.file ?? "none",
        runId: null,
        accepted: true,
        reason: "Settled longer ago than runs are kept.",
        before: null,
        after: { ...counts, sha256: manifest?.sha256 ?? null },
        commandId: null,
      });
    });
    yield* transaction("Retention.note", note).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
    );
    return counts;
  });

  /** The next segments that hold, until the batch is full; one that does not is left where it is. */
  const readUntilFull = Effect.fnUntraced(function* (
    segments: Array<Segment>,
    archive: { readonly write: Parameters<typeof readSegment>[1]; readonly bytes: () => number },
  ) {
    const readable: Array<Segment> = [];
    let faulty = 0;
    while (readable.length < maxBatchThreads && archive.bytes() < maxBatchBytes) {
      const segment = segments.shift();
      if (segment === undefined) break;
      const read = yield* Effect.result(readSegment(segment, archive.write));
      if (read._tag === "Success") readable.push(segment);
      else if (read.failure._tag === "SegmentFaulty") {
        const { kind, sequence } = read.failure.fault;
        faulty += 1;
        yield* Effect.logWarning(
          `Thread ${segment.threadId} stays as it is: its record ${sequence ?? "?"} does not hold (${kind}). npm run verify-journal tells more.`,
        );
      } else return yield* Effect.fail(read.failure);
    }
    return { readable, faulty };
  });

  /** Takes what fits into one batch off the front of `segments`. */
  const next = Effect.fnUntraced(function* (
    tenantId: TenantId,
    segments: Array<Segment>,
    options: { readonly folder: string | undefined; readonly olderThanSeconds: number },
  ) {
    if (options.folder === undefined) {
      const { readable, faulty } = yield* readUntilFull(segments, {
        write: undefined,
        bytes: () => 0,
      });
      const counts =
        readable.length === 0 ? countsOf([]) : yield* remove(tenantId, readable, undefined);
      return { ...counts, faulty, archive: undefined };
    }
    const archive = yield* openArchive(options.folder, tenantId, options.olderThanSeconds);
    const { readable, faulty } = yield* readUntilFull(segments, archive);
    if (readable.length === 0) {
      yield* archive.discard;
      return { ...countsOf([]), faulty, archive: undefined };
    }
    const manifest = yield* archive.seal(countsOf(readable));
    yield* archiveRows.begin(manifest, options.folder, readable);
    yield* archive.publish(manifest);
    return { ...(yield* remove(tenantId, readable, manifest)), faulty, archive: manifest.file };
  }, Effect.scoped);

  /**
   * Takes out whatever of an archive's runs is here: a pass was killed, or somebody had brought them back.
   *
   * @param sha256 of the file, where the database knows it
   */
  const finishOne = Effect.fnUntraced(function* (folder: string, name: string, sha256?: string) {
    const { manifest, segments, faults } = yield* checkArchive(folder, name, sha256);
    const [fault] = faults;
    if (manifest === undefined || fault !== undefined)
      return yield* new ArchiveRefused({
        message: `The archive ${name} in ${folder} does not hold (${fault === undefined ? "it has no manifest" : `expected ${fault.expected}, seen ${fault.seen}`}), and its runs are not all taken out. Nothing is taken away before somebody has looked at it.`,
      });
    return yield* remove(TenantId.make(manifest.tenantId), segments, manifest);
  });

  return { next, finishOne };
});
