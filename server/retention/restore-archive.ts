/**
 * Brings the runs of one archive back as settled history: records, rows and the
 * tables that follow from them, in one transaction. The file is checked against its
 * manifest, against itself and against what the database noted when its runs went;
 * what does not fit exactly where it was is refused. Nothing runs again.
 */
import { createReadStream } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import * as Stream from "effect/Stream";
import { TenantId } from "#lib/contract/ids.ts";
import type { Actor } from "#lib/contract/records.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { textArray } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";
import { lockGaps, writeGaps } from "#server/postgres/journal-gaps.ts";
import { ArchiveLine, type RecordLine, type RowLine } from "./archive-format.ts";
import { checkArchive } from "./check-archive.ts";
import { recordsOf, runsOf, type Segment } from "./find-segments.ts";
import { withoutRange } from "./gaps.ts";
import { onePass } from "./one-pass.ts";
import { makeWriteBack } from "./write-back.ts";
import { ArchiveRefused } from "./write-archive.ts";

/** Nothing was brought back; the message says why. */
export class RestoreRefused extends Schema.TaggedError<RestoreRefused>()("RestoreRefused", {
  message: Schema.String,
}) {}

export interface RestoreArchiveReport {
  readonly threads: number;
  readonly runs: number;
  readonly records: number;
}

const restorer: Actor = { kind: "system", id: "restore-archive", name: "restore-archive" };

const Known = Schema.Struct({
  sha256: Schema.String,
  isFinished: Schema.Boolean,
  restoredAt: Schema.NullOr(Schema.String),
});
const Stone = Schema.Struct({ run_id: Schema.String });

const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(ArchiveLine));

/** The lines once more, after the whole file was checked. */
const linesOf = (file: string): Stream.Stream<ArchiveLine, ArchiveRefused> =>
  Stream.fromAsyncIterable(
    createInterface({ input: createReadStream(file), crlfDelay: Infinity }),
    (error) =>
      new ArchiveRefused({
        message: `Reading the archive ${file} failed: ${error instanceof Error ? error.message : String(error)}`,
      }),
  ).pipe(Stream.map((text) => decodeLine(text)));

/** Records that are written in one statement. */
const recordsAtOnce = 500;

const refuse = (message: string) => new RestoreRefused({ message });

/** Before the transaction: a long file takes longer to read than the database lets a transaction say nothing. */
const readWhole = Effect.fnUntraced(function* (folder: string, name: string) {
  const { manifest, segments, faults } = yield* checkArchive(folder, name);
  const [fault] = faults;
  if (manifest === undefined || fault !== undefined)
    return yield* refuse(
      `The archive ${name} does not hold: ${fault === undefined ? "it has no manifest" : `expected ${fault.expected}, seen ${fault.seen}`}.`,
    );
  return { manifest, segments };
});

const restore = Effect.fnUntraced(function* (
  folder: string,
  name: string,
  { manifest, segments }: Effect.Success<ReturnType<typeof readWhole>>,
) {
  const sql = yield* SqlClient.SqlClient;
  const writeBack = yield* makeWriteBack;
  yield* sql`SET LOCAL statement_timeout = 0`;

  const tenantId = TenantId.make(manifest.tenantId);
  const [known] = yield* SqlSchema.findAll({
    Request: Schema.String,
    Result: Known,
    execute: (archive) => sql`
      SELECT sha256, finished_at IS NOT NULL AS "isFinished",
        to_char(restored_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS "restoredAt"
      FROM archives WHERE tenant_id = ${tenantId} AND archive = ${archive} FOR UPDATE`,
  })(name);
  if (known === undefined)
    return yield* refuse(`The archive ${name} was not written from this database.`);
  if (known.sha256 !== manifest.sha256)
    return yield* refuse(
      `The archive ${name} is not the file that was written from this database: its SHA-256 was ${known.sha256}.`,
    );
  if (!known.isFinished)
    return yield* refuse(
      `The pass that wrote ${name} has not taken all of its runs out yet: run npm run retention with its folder first.`,
    );
  if (known.restoredAt !== null)
    return yield* refuse(`The runs of ${name} are here already, since ${known.restoredAt} UTC.`);

  const openGaps = Effect.fnUntraced(function* ({ threadId, ranges }: Segment) {
    const gaps = yield* lockGaps(tenantId, threadId);
    let left = gaps;
    for (const { after, through } of ranges)
      left = left === undefined ? undefined : withoutRange(left, { after, through });
    if (left === undefined)
      return yield* refuse(
        `Records ${ranges.map(({ after, through }) => `${after.sequence + 1} to ${through.sequence}`).join(", ")} of thread ${threadId} do not fit into what is missing there.`,
      );
    yield* writeGaps(tenantId, threadId, left);
    for (const { after, through } of ranges)
      yield* sql`DELETE FROM journal_links WHERE tenant_id = ${tenantId} AND thread_id = ${threadId}
        AND sequence > ${after.sequence} AND sequence <= ${through.sequence}`;
  });

  const takeStones = Effect.fnUntraced(function* (segment: Segment) {
    const runs = runsOf(segment);
    const stones = yield* SqlSchema.findAll({
      Request: Schema.Void,
      Result: Stone,
      execute: () => sql`
        DELETE FROM archived_runs WHERE tenant_id = ${tenantId} AND thread_id = ${segment.threadId}
          AND archive = ${name} AND run_id = ANY(${textArray(runs)}) RETURNING run_id`,
    })(undefined);
    const gone = new Set(stones.map((stone) => stone.run_id));
    const other = runs.find((runId) => !gone.has(runId));
    if (other !== undefined)
      return yield* refuse(`Run ${other} is here, or it went into another archive than ${name}.`);
    yield* sql`DELETE FROM archived_items
      WHERE tenant_id = ${tenantId} AND run_id = ANY(${textArray(runs)})`;
    yield* sql`INSERT INTO archived_copies (tenant_id, run_id, archive)
      SELECT ${tenantId}, run_id, ${name} FROM unnest(${textArray(runs)}) AS run_id`;
  });

  for (const segment of segments) {
    yield* openGaps(segment);
    yield* takeStones(segment);
  }
  let records: Array<RecordLine> = [];
  const rows: Array<RowLine> = [];
  const flush = Effect.suspend(() => {
    const full = records;
    records = [];
    return writeBack.records(tenantId, full);
  });
  yield* Stream.runForEach(linesOf(path.join(folder, name)), (line) => {
    if (line.kind === "record" && records.push(line) >= recordsAtOnce) return flush;
    // Megabytes each: none waits for the others.
    if (line.kind === "row" && line.table === "kept_results") return writeBack.rows([line]);
    if (line.kind === "row") rows.push(line);
    // The rows of a part are written behind its records, and not kept longer.
    if (line.kind !== "thread-end") return Effect.void;
    return Effect.andThen(flush, writeBack.rows(rows.splice(0)));
  });
  for (const segment of segments) yield* writeBack.projections(segment);

  const report = {
    threads: new Set(segments.map((segment) => segment.threadId)).size,
    runs: segments.reduce((sum, segment) => sum + runsOf(segment).length, 0),
    records: segments.reduce((sum, segment) => sum + recordsOf(segment), 0),
  } satisfies RestoreArchiveReport;
  yield* sql`UPDATE archives SET restored_at = now() WHERE tenant_id = ${tenantId} AND archive = ${name}`;
  const audit = yield* Audit;
  yield* audit.append({
    tenantId,
    actor: restorer,
    verb: "restore-archive",
    target: name,
    runId: null,
    accepted: true,
    reason: "Brought back from an archive, to be looked at.",
    before: null,
    after: { ...report, sha256: manifest.sha256 },
    commandId: null,
  });
  return report;
});

/**
 * All of it or nothing, and not beside a pass of retention. The runs stay for as long
 * as settled runs are kept, counted from now; then a pass with the archive's folder
 * takes them out again, into no second file.
 */
export const restoreArchive = Effect.fn("restoreArchive")((file: string) => {
  const [folder, name] = [path.dirname(file), path.basename(file)];
  return onePass(
    Effect.flatMap(readWhole(folder, name), (whole) =>
      transaction("restoreArchive", restore(folder, name, whole)),
    ),
  );
});
