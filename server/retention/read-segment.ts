/** Reads a segment out of the tables as archive lines, checking its chain on the way. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { type JournalFault, makeThreadVerifier } from "#lib/durable/verify-thread.ts";
import { textArray } from "#server/postgres/columns.ts";
import { makeJournalPages } from "#server/postgres/journal-pages.ts";
import { inJournalSnapshot } from "#server/postgres/rebuild-projections.ts";
import type { ArchiveLine } from "./archive-format.ts";
import type { Segment } from "./find-segments.ts";
import type { ArchiveRefused } from "./write-archive.ts";

/** Tables of which an archive keeps the rows: what people, the clock and captures wrote. */
export const keptTables = [
  "submissions",
  "approval_requests",
  "unknown_outcomes",
  "unknown_probes",
  "denials",
  "diagnostics",
  "abort_requests",
] as const;

/** The chain of a segment does not hold: evidence of that must not be taken away. */
export class SegmentFaulty {
  readonly _tag = "SegmentFaulty";
  constructor(
    readonly segment: Segment,
    readonly fault: JournalFault,
  ) {}
}

const Live = Schema.Tuple([Schema.Struct({ live: Schema.String })]);
const TextRow = Schema.Struct({ row: Schema.fromJsonString(Schema.Json) });
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(TextRow));

export type WriteLine = (line: ArchiveLine) => Effect.Effect<void, ArchiveRefused>;

export const makeReadSegment = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const { nextPage } = yield* makeJournalPages;

  const rowsOf = (segment: Segment, table: string) =>
    Effect.flatMap(
      table === "approval_votes"
        ? sql`SELECT row_to_json(v)::text AS row FROM approval_votes v
            JOIN approval_requests a ON a.tenant_id = v.tenant_id AND a.request_id = v.request_id
            WHERE a.tenant_id = ${segment.tenantId} AND a.run_id = ANY(${textArray(segment.runIds)})`
        : sql`SELECT row_to_json(t)::text AS row FROM ${sql(table)} t
            WHERE t.tenant_id = ${segment.tenantId} AND t.run_id = ANY(${textArray(segment.runIds)})`,
      decodeRows,
    );

  const read = (segment: Segment, write: WriteLine) =>
    Effect.gen(function* () {
      const { threadId, agentId, after, through, runIds } = segment;
      const [{ live }] = yield* Effect.flatMap(
        sql`SELECT current_schema() AS live`,
        Schema.decodeUnknownEffect(Live),
      );
      const verifier = makeThreadVerifier(threadId, after);
      yield* write({ kind: "thread", threadId, agentId, after });
      let records = 0;
      while (verifier.tail().sequence < through) {
        const rows = yield* nextPage(
          live,
          { tenantId: segment.tenantId, only: threadId },
          { threadId, sequence: verifier.tail().sequence },
        );
        for (const row of rows) {
          if (row.sequence > through) break;
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
          const [fault] = verifier.take({ ...record, kind: row.kind }).faults;
          if (fault !== undefined) return yield* Effect.fail(new SegmentFaulty(segment, fault));
          yield* write({
            kind: "record",
            threadId,
            ...record,
            recordKind: row.kind,
            recordedAt: row.recorded_at,
          });
          records += 1;
        }
        // Records that are gone: the chain cannot reach the place it should.
        if (rows.length === 0)
          return yield* Effect.fail(
            new SegmentFaulty(segment, {
              kind: "gap",
              where: threadId,
              sequence: through,
              expected: `record ${through}`,
              seen: `an end at record ${verifier.tail().sequence}`,
            }),
          );
      }
      for (const table of [...keptTables, "approval_votes"]) {
        for (const { row } of yield* rowsOf(segment, table))
          yield* write({ kind: "row", threadId, table, row });
      }
      const { sequence, digest } = verifier.tail();
      yield* write({ kind: "thread-end", threadId, through: { sequence, digest }, runIds });
      return { ...segment, throughDigest: digest, records };
    });

  /** Reads twice in one snapshot: nothing of a thread that does not hold is written. */
  return (segment: Segment, write: WriteLine | undefined) =>
    inJournalSnapshot(
      "Retention.read",
      Effect.gen(function* () {
        const checked = yield* read(segment, () => Effect.void);
        return write === undefined ? checked : yield* read(segment, write);
      }),
    ).pipe(Effect.provideService(SqlClient.SqlClient, sql));
});
