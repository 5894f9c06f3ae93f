/** The raw facts of a run with their digests, as stored (PG-02). */
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { RecordView } from "#lib/contract/views.ts";
import { millis } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { requireRun } from "./require-run.ts";
import { readPage } from "./page.ts";
import { inSnapshot } from "./snapshot.ts";

export const listRecords = Effect.fn("views.listRecords")(function* (
  tenantId: TenantId,
  runId: RunId,
  query: { readonly cursor?: string; readonly limit?: number },
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.number]);
  const after = Number(cursor?.[0] ?? 0);
  const matching = sql`FROM journal_records j WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId}`;
  return yield* inSnapshot(
    tenantId,
    Effect.andThen(
      requireRun(tenantId, runId),
      readPage({
        tenantId,
        limit: query.limit,
        schema: RecordView,
        rows: (limit) => sql`
          SELECT j.sequence::float8 AS sequence, j.epoch::float8 AS epoch, j.kind, j.digest,
            j.previous_digest AS "previousDigest", j.body, ${sql.literal(millis("j.recorded_at"))} AS "recordedAt"
          ${matching} AND j.sequence > ${after}::float8::bigint ORDER BY j.sequence LIMIT ${limit}`,
        matching,
        cursorOf: (row) => [String(row.sequence)],
      }),
    ),
  );
});
