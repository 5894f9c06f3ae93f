/** Private failure evidence as it was captured, markers and all (OP-04, DX-06). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { DiagnosticListItem } from "#lib/contract/http/diagnostic-list-item.ts";
import type { DiagnosticId, RunId, TenantId } from "#lib/contract/ids.ts";
import { DiagnosticView } from "#lib/contract/denial-views.ts";
import { columnText } from "#server/postgres/columns.ts";
import { millis } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { readPage } from "./page.ts";
import { notFound } from "./require-run.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

const columns = `
  g.diagnostic_id AS "diagnosticId", g.fingerprint, g.run_id AS "runId",
  g.tool_name AS "toolName", g.call_id AS "callId", ${millis("g.captured_at")} AS "capturedAt",
  g.title`;

const ListRow = Schema.Struct({ ...DiagnosticListItem.fields, cursorAt: Schema.String });

/** Latest first, without the evidence. */
export const listDiagnostics = Effect.fn("views.listDiagnostics")(function* (
  tenantId: TenantId,
  query: {
    readonly runId?: RunId;
    readonly fingerprint?: string;
    readonly cursor?: string;
    readonly limit?: number;
  },
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.time, cursorForms.id]);
  const where = [sql`g.tenant_id = ${tenantId}`];
  if (query.runId !== undefined) where.push(sql`g.run_id = ${query.runId}`);
  if (query.fingerprint !== undefined)
    where.push(sql`g.fingerprint = ${columnText(query.fingerprint)}`);
  const matching = sql`FROM diagnostics g WHERE ${sql.and(where)}`;
  const after =
    cursor === undefined
      ? sql``
      : sql`AND (g.captured_at, g.diagnostic_id) < (${cursor[0]}::timestamptz, ${cursor[1]})`;
  return yield* inSnapshot(
    tenantId,
    readPage({
      tenantId,
      limit: query.limit,
      schema: ListRow,
      rows: (limit) => sql`
        SELECT ${sql.literal(columns)}, g.captured_at::text AS "cursorAt" ${matching} ${after}
        ORDER BY g.captured_at DESC, g.diagnostic_id DESC LIMIT ${limit}`,
      matching,
      cursorOf: (row) => [row.cursorAt, row.diagnosticId],
    }),
  );
});

const Row = Schema.Struct({
  ...DiagnosticView.fields,
  diagnostic: Schema.fromJsonString(Schema.Json),
});

export const readDiagnostic = Effect.fn("views.readDiagnostic")(function* (
  tenantId: TenantId,
  diagnosticId: DiagnosticId,
) {
  const sql = yield* SqlClient;
  const rows = yield* inSnapshot(
    tenantId,
    decodeRows(Row)(sql`
      SELECT ${sql.literal(columns)}, g.body AS diagnostic FROM diagnostics g
      WHERE g.tenant_id = ${tenantId} AND g.diagnostic_id = ${diagnosticId}`),
  );
  return rows[0] ?? (yield* notFound("diagnostic"));
});
