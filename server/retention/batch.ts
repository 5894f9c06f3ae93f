/** One batch of a retention pass: what is read into an archive, taken out of the tables, and written down. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { TenantId } from "#lib/contract/ids.ts";
import type { Actor } from "#lib/contract/records.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { transaction, transition } from "#server/postgres/Database.ts";
import type { Manifest } from "./archive-format.ts";
import { checkArchive, clearPartials, listArchives } from "./check-archive.ts";
import type { Segment } from "./find-segments.ts";
import { makeReadSegment } from "./read-segment.ts";
import { makeRemoveSegment } from "./remove-segment.ts";
import { ArchiveRefused, openArchive } from "./write-archive.ts";

/** A batch, and with it an archive file, ends after so many threads or bytes. */
const maxBatchThreads = 50;
const maxBatchBytes = 64 * 1_048_576;

const retention: Actor = { kind: "system", id: "retention", name: "retention" };

export interface BatchCounts {
  readonly threads: number;
  readonly runs: number;
  readonly records: number;
}

type Removable = Segment & { readonly throughDigest: string; readonly records: number };

const countsOf = (segments: ReadonlyArray<Removable>): BatchCounts => ({
  threads: segments.length,
  runs: segments.reduce((sum, segment) => sum + segment.runIds.length, 0),
  records: segments.reduce((sum, segment) => sum + segment.records, 0),
});

const ArchiveRow = Schema.Struct({ archive: Schema.String });

export const makeBatches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const audit = yield* Audit;
  const readSegment = yield* makeReadSegment;
  const removeSegment = yield* makeRemoveSegment;

  const finished = SqlSchema.findAll({
    Request: Schema.Void,
    Result: ArchiveRow,
    execute: () => sql`SELECT archive FROM archives`,
  });

  /** Takes the segments out, one transaction each, then says so in the audit and in the list of archives. */
  const remove = Effect.fnUntraced(function* (
    tenantId: TenantId,
    segments: ReadonlyArray<Removable>,
    manifest: Manifest | undefined,
  ) {
    const gone: Array<Removable> = [];
    for (const segment of segments)
      if (yield* removeSegment(segment, manifest?.file ?? null)) gone.push(segment);
    const counts = countsOf(gone);
    const note = Effect.gen(function* () {
      if (manifest !== undefined)
        yield* sql`INSERT INTO archives (tenant_id, archive, sha256, runs, records)
          VALUES (${tenantId}, ${manifest.file}, ${manifest.sha256}, ${manifest.runs}, ${manifest.records})
          ON CONFLICT DO NOTHING`;
      yield* audit.append({
        tenantId,
        actor: retention,
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
    const readable: Array<Removable> = [];
    let faulty = 0;
    while (readable.length < maxBatchThreads && archive.bytes() < maxBatchBytes) {
      const segment = segments.shift();
      if (segment === undefined) break;
      const read = yield* Effect.result(readSegment(segment, archive.write));
      if (read._tag === "Success") readable.push(read.success);
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
    const manifest = yield* archive.finish(countsOf(readable));
    return { ...(yield* remove(tenantId, readable, manifest)), faulty, archive: manifest.file };
  }, Effect.scoped);

  /** Finishes an archive of a pass that was killed; undefined when there is none. */
  const finishOne = Effect.fnUntraced(function* (folder: string, name: string) {
    const { manifest, segments, faults } = yield* checkArchive(folder, name);
    const [fault] = faults;
    if (manifest === undefined || fault !== undefined)
      return yield* new ArchiveRefused({
        message: `The archive ${name} in ${folder} was not finished and does not hold (${fault === undefined ? "it has no manifest" : `expected ${fault.expected}, seen ${fault.seen}`}). Nothing is taken away before somebody has looked at it.`,
      });
    const counted = segments.map((segment) => ({
      ...segment,
      records: segment.through - segment.after.sequence,
    }));
    return yield* remove(TenantId.make(manifest.tenantId), counted, manifest);
  });

  const unfinished = Effect.fnUntraced(function* (folder: string) {
    yield* clearPartials(folder);
    const done = yield* transition("Retention.archives", finished());
    const names = new Set(done.map((row) => row.archive));
    return (yield* listArchives(folder)).filter((name) => !names.has(name));
  });

  return { next, unfinished, finishOne };
});
