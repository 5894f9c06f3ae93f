/** The raw facts of a run with their digests, as stored (PG-02). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { RecordView } from "#lib/contract/run-views.ts";
import { millis } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { requireRun } from "./require-run.ts";
import { readPage } from "./page.ts";
import { recordsThrough } from "./records-then.ts";
import { inSnapshot } from "./snapshot.ts";

/** An answer ends with the record that passes this many bytes, so one is always there. */
export const recordBytesPerAnswer = 2_097_152;

/** `read`: how many rows the page could have had; those behind the bytes are left for the next. */
const Row = Schema.Struct({ ...RecordView.fields, read: Schema.Int });

/** At most `limit` records and not many bytes: a run of large ones is read in more pages. */
export const listRecords = Effect.fn("views.listRecords")(function* (
  tenantId: TenantId,
  runId: RunId,
  query: {
    readonly cursor?: string;
    readonly limit?: number;
    /** As they stood after this event of the log. */
    readonly at?: number;
  },
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.number]);
  const after = Number(cursor?.[0] ?? 0);
  const page = yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      yield* requireRun(tenantId, runId);
      const { at } = query;
      const through = at === undefined ? undefined : yield* recordsThrough(tenantId, runId, at);
      const matching = sql`FROM journal_records j WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId}
        ${through === undefined ? sql`` : sql`AND j.sequence <= ${through}::float8::bigint`}`;
      return yield* readPage({
        tenantId,
        limit: query.limit,
        schema: Row,
        // octet_length reads no body: a long text's length stands beside it.
        rows: (limit) => sql`
          SELECT p.sequence::float8 AS sequence, p.epoch::float8 AS epoch, p.kind, p.digest,
            p.previous_digest AS "previousDigest", p.body,
            ${sql.literal(millis("p.recorded_at"))} AS "recordedAt", p.read::int4 AS read
          FROM (
            SELECT q.*, count(*) OVER () AS read,
              sum(octet_length(q.body)) OVER (ORDER BY q.sequence) - octet_length(q.body) AS bytes_before
            FROM (
              SELECT j.* ${matching} AND j.sequence > ${after}::float8::bigint
              ORDER BY j.sequence LIMIT ${limit}
            ) AS q
          ) AS p
          WHERE p.bytes_before < ${recordBytesPerAnswer} ORDER BY p.sequence`,
        isMore: (rows) => (rows[0]?.read ?? 0) > rows.length,
        matching,
        cursorOf: (row) => [String(row.sequence)],
      });
    }),
  );
  return { ...page, items: page.items.map(({ read: _, ...record }) => record) };
});
