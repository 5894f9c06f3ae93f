/** Reads a segment out of the tables as archive lines, checking its chain and the kept texts on the way. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { makeResultVerifier, type ResultVerifier } from "#lib/durable/verify-results.ts";
import { type JournalFault, makeThreadVerifier } from "#lib/durable/verify-thread.ts";
import { textArray } from "#server/postgres/columns.ts";
import { makeJournalPages } from "#server/postgres/journal-pages.ts";
import { inJournalSnapshot } from "#server/postgres/rebuild-projections.ts";
import type { ArchiveLine } from "./archive-format.ts";
import { type Range, runsOf, type Segment } from "./find-segments.ts";
import type { ArchiveRefused } from "./write-archive.ts";

/** Tables of which an archive keeps the rows: what people, the clock and captures wrote. */
const keptTables = [
  "submissions",
  "approval_requests",
  "unknown_outcomes",
  "unknown_probes",
  "denials",
  "diagnostics",
  "abort_requests",
] as const;

/** The chain of a segment does not hold, or a text beside it: evidence of that must not be taken away. */
export class SegmentFaulty {
  readonly _tag = "SegmentFaulty";
  constructor(
    readonly segment: Segment,
    readonly fault: JournalFault,
  ) {}
}

const Live = Schema.Tuple([Schema.Struct({ live: Schema.String })]);
const TableRow = Schema.Struct({
  table_name: Schema.String,
  row: Schema.fromJsonString(Schema.Json),
});
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(TableRow));

/** Runs whose rows are read in one statement: what they hold is in memory for that long. */
const runsAtOnce = 50;

const KeptRow = Schema.Struct({
  run_id: Schema.String,
  result_id: Schema.String,
  bytes: Schema.Int,
  digest: Schema.String,
});

export type WriteLine = (line: ArchiveLine) => Effect.Effect<void, ArchiveRefused>;

export const makeReadSegment = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { nextPage } = yield* makeJournalPages;
  const readLive = Effect.flatMap(
    sql`SELECT current_schema() AS live`,
    Schema.decodeUnknownEffect(Live),
  );

  /** The records of a range in order, checked. */
  const readRecords = Effect.fnUntraced(function* (
    live: string,
    segment: Segment,
    { after, through }: Range,
    write: WriteLine,
    results: ResultVerifier,
  ) {
    const { tenantId, threadId } = segment;
    const verifier = makeThreadVerifier(threadId, after);
    const broken = (expected: string, seen: string) =>
      Effect.fail(
        new SegmentFaulty(segment, {
          kind: "gap",
          where: threadId,
          sequence: through.sequence,
          expected,
          seen,
        }),
      );
    while (verifier.tail().sequence < through.sequence) {
      const from = verifier.tail().sequence;
      const page = yield* nextPage(
        live,
        { tenantId, only: threadId },
        { threadId, sequence: from },
      );
      for (const row of page) {
        if (row.sequence > through.sequence) break;
        const record = {
          epoch: row.epoch,
          sequence: row.sequence,
          body: row.body,
          digest: row.digest,
          previousDigest: row.previous_digest,
          runId: row.run_id,
          batchId: row.batch_id,
          batchPlace: row.batch_place,
        };
        const taken = verifier.take({ ...record, kind: row.kind });
        const [fault] = taken.faults;
        if (fault !== undefined) return yield* Effect.fail(new SegmentFaulty(segment, fault));
        if (taken.record !== undefined) results.named(threadId, row.sequence, taken.record);
        const { kind: recordKind, recorded_at: recordedAt } = row;
        yield* write({ kind: "record", threadId, ...record, recordKind, recordedAt });
      }
      const { sequence } = verifier.tail();
      if (sequence === from)
        return yield* broken(`record ${through.sequence}`, `an end at record ${sequence}`);
    }
    const { digest } = verifier.tail();
    if (digest !== through.digest) return yield* broken(`digest ${through.digest}`, digest);
  });

  const listKept = (segment: Segment) =>
    Effect.flatMap(
      sql`SELECT k.run_id, k.result_id, octet_length(k.body) AS bytes,
          encode(sha256(convert_to(k.body, 'UTF8')), 'hex') AS digest
        FROM kept_results k WHERE k.tenant_id = ${segment.tenantId}
          AND k.thread_id = ${segment.threadId} AND k.run_id = ANY(${textArray(runsOf(segment))})
        ORDER BY k.record_sequence, k.result_id`,
      Schema.decodeUnknownEffect(Schema.Array(KeptRow)),
    );

  const rowsOf = (tenantId: string, runIds: ReadonlyArray<string>) => {
    const runs = textArray(runIds);
    const tables = keptTables.map(
      (table) => sql`
        SELECT ${table}::text AS table_name, row_to_json(t)::text AS row FROM ${sql(table)} t
        WHERE t.tenant_id = ${tenantId} AND t.run_id = ANY(${runs})`,
    );
    const votes = sql`
      SELECT 'approval_votes' AS table_name, row_to_json(v)::text AS row FROM approval_votes v
      JOIN approval_requests a ON a.tenant_id = v.tenant_id AND a.request_id = v.request_id
      WHERE a.tenant_id = ${tenantId} AND a.run_id = ANY(${runs})`;
    return Effect.flatMap(sql`${sql.join(" UNION ALL ", false)([...tables, votes])}`, decodeRows);
  };

  const readRows = Effect.fnUntraced(function* (
    { tenantId, threadId }: Segment,
    { runIds }: Range,
    write: WriteLine,
  ) {
    for (let from = 0; from < runIds.length; from += runsAtOnce) {
      const rows = yield* rowsOf(tenantId, runIds.slice(from, from + runsAtOnce));
      for (const { table_name: table, row } of rows)
        yield* write({ kind: "row", threadId, table, row });
    }
  });

  /** One at a time: each may have megabytes. */
  const writeKept = Effect.fnUntraced(function* (
    segment: Segment,
    kept: ReadonlyArray<typeof KeptRow.Type>,
    write: WriteLine,
  ) {
    const { tenantId, threadId } = segment;
    for (const { run_id, result_id } of kept) {
      const rows = yield* Effect.flatMap(
        sql`SELECT 'kept_results' AS table_name, row_to_json(k)::text AS row FROM kept_results k
          WHERE k.tenant_id = ${tenantId} AND k.run_id = ${run_id} AND k.result_id = ${result_id}`,
        decodeRows,
      );
      for (const { table_name: table, row } of rows)
        yield* write({ kind: "row", threadId, table, row });
    }
  });

  /** Reads the records twice in one snapshot: nothing of a thread that does not hold is written. */
  const read = Effect.fnUntraced(function* (segment: Segment, write: WriteLine | undefined) {
    const { threadId, agentId, ranges } = segment;
    const [{ live }] = yield* readLive;
    const results = makeResultVerifier();
    for (const range of ranges)
      yield* readRecords(live, segment, range, () => Effect.void, results);
    const kept = yield* listKept(segment);
    const [fault] = [
      ...kept.flatMap(({ run_id: runId, result_id: resultId, ...text }) =>
        results.found(threadId, { runId, resultId, ...text }),
      ),
      ...results.end(),
    ];
    if (fault !== undefined) return yield* Effect.fail(new SegmentFaulty(segment, fault));
    if (write === undefined) return;
    for (const range of ranges) {
      const { after, through, runIds } = range;
      yield* write({ kind: "thread", threadId, agentId, after });
      yield* readRecords(live, segment, range, write, results);
      yield* readRows(segment, range, write);
      const ended = new Set(runIds);
      yield* writeKept(
        segment,
        kept.filter(({ run_id }) => ended.has(run_id)),
        write,
      );
      yield* write({ kind: "thread-end", threadId, through, runIds });
    }
  });

  return (segment: Segment, write: WriteLine | undefined) =>
    inJournalSnapshot("Retention.read", read(segment, write)).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
    );
});
