/** Writes what an archive holds into the tables it came from: records, rows, and what follows from the records. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { textArray } from "#server/postgres/columns.ts";
import { dropTwins, fillTwins } from "#server/postgres/rebuild-projections.ts";
import type { RecordLine, RowLine } from "./archive-format.ts";
import { runsOf, type Segment } from "./find-segments.ts";

/** Tables that an archive keeps the rows of, each behind those it refers to. */
const orderedTables = [
  "submissions",
  "abort_requests",
  "diagnostics",
  "approval_requests",
  "approval_votes",
  "unknown_outcomes",
  "unknown_probes",
  "denials",
  "kept_results",
] as const;

/** Tables that follow from records, the run first. */
const projections = ["runs", "turns", "tool_calls", "run_tools"] as const;

const Column = Schema.Struct({ name: Schema.String });

export const makeWriteBack = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  const records = (tenantId: string, lines: ReadonlyArray<RecordLine>) =>
    lines.length === 0
      ? Effect.void
      : Effect.asVoid(sql`
          INSERT INTO journal_records (tenant_id, thread_id, sequence, run_id, epoch, kind, body, digest,
            previous_digest, batch_id, batch_place, recorded_at)
          SELECT ${tenantId}, r."threadId", r.sequence, r."runId", r.epoch, r."recordKind", r.body, r.digest,
            r."previousDigest", r."batchId", r."batchPlace", from_millis(r."recordedAt")
          FROM json_to_recordset(${JSON.stringify(lines)}::json) AS r (
            "threadId" text, sequence bigint, "runId" text, epoch bigint, "recordKind" text, body text,
            digest text, "previousDigest" text, "batchId" text, "batchPlace" smallint, "recordedAt" bigint)`);

  const columnsOf = SqlSchema.findAll({
    Request: Schema.String,
    Result: Column,
    execute: (table) => sql`
      SELECT column_name AS name FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = ${table} AND is_generated = 'NEVER'`,
  });

  /** A column that came after the archive was written has its default; one that is gone is left out. */
  const rowsOfTable = Effect.fnUntraced(function* (table: string, found: ReadonlyArray<RowLine>) {
    if (found.length === 0) return;
    const named = new Set(
      found.flatMap(({ row }) => (typeof row === "object" && row !== null ? Object.keys(row) : [])),
    );
    const columns = (yield* columnsOf(table)).filter(({ name }) => named.has(name));
    const list = sql.join(", ", false)(columns.map(({ name }) => sql`${sql(name)}`));
    const values = JSON.stringify(found.map(({ row }) => row));
    yield* sql`INSERT INTO ${sql(table)} (${list})
      SELECT ${list} FROM json_populate_recordset(NULL::${sql(table)}, ${values}::json)`;
  });

  const rows = (lines: ReadonlyArray<RowLine>) =>
    Effect.forEach(
      orderedTables,
      (table) =>
        rowsOfTable(
          table,
          lines.filter((line) => line.table === table),
        ),
      { discard: true },
    );

  /** What the thread's records say of these runs, made as the rebuild makes it, so that it compares equal. */
  const fromRecords = Effect.fnUntraced(function* (segment: Segment) {
    const { tenantId, threadId } = segment;
    const { live } = yield* fillTwins({ tenantId, only: threadId }, () => true);
    // The live tables' own triggers must find live tables: a temporary schema that is not named comes first.
    yield* sql`SET LOCAL search_path = ${sql(live)}, pg_temp`;
    for (const table of projections) {
      const columns =
        table === "run_tools" ? sql`(tenant_id, tool_name, created_at, run_id)` : sql``;
      const chosen = table === "run_tools" ? sql`tenant_id, tool_name, created_at, run_id` : sql`*`;
      yield* sql`INSERT INTO ${sql(live)}.${sql(table)} ${columns}
        SELECT ${chosen} FROM pg_temp.${sql(table)}
        WHERE tenant_id = ${tenantId} AND run_id = ANY(${textArray(runsOf(segment))})`;
    }
    yield* dropTwins(live);
  });

  return { records, rows, projections: fromRecords };
});
