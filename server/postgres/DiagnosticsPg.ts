/** `Diagnostics` on PostgreSQL; `journal_append` writes the rows. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { DiagnosticId, RunId, ToolCallId } from "#lib/contract/ids.ts";
import type { DiagnosticView } from "#lib/contract/denial-views.ts";
import { Diagnostics } from "#lib/durable/Diagnostics.ts";
import { JsonText, Millis } from "#server/postgres/columns.ts";
import { transition } from "#server/postgres/Database.ts";

const Row = Schema.Struct({
  diagnostic_id: DiagnosticId,
  fingerprint: Schema.String,
  run_id: Schema.NullOr(RunId),
  tool_name: Schema.NullOr(Schema.String),
  call_id: Schema.NullOr(ToolCallId),
  captured_at: Millis,
  title: Schema.String,
  body: JsonText(Schema.Json),
});

const viewOf = (row: typeof Row.Type): DiagnosticView => ({
  diagnosticId: row.diagnostic_id,
  fingerprint: row.fingerprint,
  runId: row.run_id,
  toolName: row.tool_name,
  callId: row.call_id,
  capturedAt: row.captured_at,
  title: row.title,
  diagnostic: row.body,
});

const Group = Schema.Struct({
  fingerprint: Schema.String,
  title: Schema.String,
  occurrences: Schema.Int,
  first_at: Millis,
  last_at: Millis,
  last_diagnostic_id: DiagnosticId,
});

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const columns = sql`diagnostic_id, fingerprint, run_id, tool_name, call_id, captured_at, title, body`;

  const selectOne = SqlSchema.findOneOption({
    Request: Schema.Struct({ tenantId: Schema.String, diagnosticId: Schema.String }),
    Result: Row,
    execute: ({ tenantId, diagnosticId }) =>
      sql`SELECT ${columns} FROM diagnostics
        WHERE tenant_id = ${tenantId} AND diagnostic_id = ${diagnosticId}`,
  });
  const selectRun = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, runId: Schema.String }),
    Result: Row,
    execute: ({ tenantId, runId }) =>
      sql`SELECT ${columns} FROM diagnostics
        WHERE tenant_id = ${tenantId} AND run_id = ${runId}
        ORDER BY captured_at, diagnostic_id LIMIT 200`,
  });
  const selectGroups = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, days: Schema.Int }),
    Result: Group,
    execute: ({ tenantId, days }) =>
      sql`SELECT fingerprint, (array_agg(title ORDER BY captured_at DESC, diagnostic_id DESC))[1] AS title,
          count(*)::integer AS occurrences, min(captured_at) AS first_at, max(captured_at) AS last_at,
          (array_agg(diagnostic_id ORDER BY captured_at DESC, diagnostic_id DESC))[1] AS last_diagnostic_id
        FROM diagnostics
        WHERE tenant_id = ${tenantId} AND captured_at > now() - ${days} * interval '1 day'
        GROUP BY fingerprint ORDER BY max(captured_at) DESC LIMIT 200`,
  });

  return Diagnostics.of({
    find: Effect.fn("Diagnostics.find")((request) =>
      transition("Diagnostics.find", Effect.map(selectOne(request), Option.map(viewOf))),
    ),
    ofRun: Effect.fn("Diagnostics.ofRun")((request) =>
      transition(
        "Diagnostics.ofRun",
        Effect.map(selectRun(request), (rows) => rows.map(viewOf)),
      ),
    ),
    groups: Effect.fn("Diagnostics.groups")((request) =>
      transition(
        "Diagnostics.groups",
        Effect.map(
          selectGroups({
            tenantId: request.tenantId,
            days: Math.min(Math.max(Math.trunc(request.days), 1), 90),
          }),
          (rows) =>
            rows.map((row) => ({
              fingerprint: row.fingerprint,
              title: row.title,
              occurrences: row.occurrences,
              firstAt: row.first_at,
              lastAt: row.last_at,
              lastDiagnosticId: row.last_diagnostic_id,
            })),
        ),
      ),
    ),
  });
});

/** `Diagnostics` on the pool's database. */
export const layer = Layer.effect(Diagnostics, make);
