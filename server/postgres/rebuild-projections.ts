/**
 * Rebuilds every projection of a tenant from its journal records, beside the live
 * tables and with the same SQL as the append, and reports each row that differs.
 * It reads one snapshot, writes only temporary tables and repairs nothing.
 *
 * What people and the clock write first (a decision before it is delivered, an
 * extension, an acknowledgement) is no projection and is not compared.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { RunRecord } from "#lib/contract/records.ts";
import { Int8, JsonText } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";
import { type PlacedRecord, projectRecords } from "#server/postgres/project-records.ts";

export interface ProjectionDifference {
  readonly table: string;
  /** Which side has this row: the live table, or the one rebuilt from records. */
  readonly side: "live" | "rebuilt";
  /** The compared columns as JSON text. */
  readonly row: string;
}

export interface RebuildReport {
  readonly records: number;
  /** At most 1,000. */
  readonly differences: ReadonlyArray<ProjectionDifference>;
}

const pageSize = 1_000;
const maxDifferences = 1_000;

/** Tables that `project_changes` writes; each gets a temporary twin that hides it. */
const shadowed = [
  "submissions",
  "runs",
  "run_tools",
  "turns",
  "tool_calls",
  "approval_requests",
  "unknown_outcomes",
  "unknown_probes",
  "denials",
  "abort_requests",
  "event_inbox",
] as const;

const millis = (column: string) => `date_trunc('milliseconds', ${column}) AS ${column}`;
const decision = [
  "state",
  "decider_kind",
  "decider_id",
  "decider_name",
  "decision_reason",
  "suggestion",
];
const resolution = [
  "state",
  "resolution",
  "result",
  "result_is_failure",
  "resolver_kind",
  "resolver_id",
  "resolver_name",
  "resolution_reason",
  "evidence",
];
/** A column of a fact that people write first counts only once a record has delivered it. */
const onceDelivered = (columns: ReadonlyArray<string>) =>
  columns.map((column) => `CASE WHEN delivered_at IS NOT NULL THEN ${column} END AS ${column}`);

/** What is compared of each table; `*` where records decide every column. */
const compared: ReadonlyArray<readonly [table: string, columns: string, where: string]> = [
  ["runs", "*", "true"],
  ["run_tools", "*", "true"],
  ["turns", "*", "true"],
  ["tool_calls", "*", "true"],
  [
    "approval_requests",
    [
      "request_id, thread_id, run_id, agent_id, turn, call_id, tool_name, summary, risk, denial_rule, requester",
      "approvers_required, self_approval, parameters_digest, content, requested_sequence, requested_at, delivered_at",
      ...onceDelivered(decision),
      "CASE WHEN delivered_at IS NOT NULL THEN date_trunc('milliseconds', decided_at) END AS decided_at",
    ].join(", "),
    "true",
  ],
  [
    "unknown_outcomes",
    [
      "unknown_id, thread_id, run_id, agent_id, turn, call_id, tool_name, reason, detail, after_settlement",
      "execution_class, parameters_digest, idempotency_key, attempt, declared_sequence, unknown_sequence",
      "prepared_at, unknown_at, delivered_at",
      ...onceDelivered(resolution),
    ].join(", "),
    "true",
  ],
  // An operator's question has no record.
  ["unknown_probes", "*", "record_sequence IS NOT NULL"],
  [
    "denials",
    "denial_id, kind, thread_id, run_id, agent_id, turn, call_id, tool_name, reason, diagnostic_id, denied_sequence, denied_at",
    "true",
  ],
  [
    "abort_requests",
    `run_id, thread_id, actor_kind, actor_id, actor_name, reason, delivered_at, ${millis("requested_at")}`,
    "delivered_at IS NOT NULL",
  ],
  ["submissions", "submission_id, run_id, state = 'settled' AS settled", "true"],
];

const RecordRow = Schema.Struct({
  thread_id: Schema.String,
  run_id: Schema.String,
  agent_id: Schema.String,
  sequence: Int8,
  batch_id: Schema.String,
  body: JsonText(RunRecord),
});
type RecordRow = typeof RecordRow.Type;

const DifferenceRow = Schema.Struct({
  side: Schema.Literals(["live", "rebuilt"]),
  row: Schema.String,
});

/** Consecutive records of one batch, as they were appended. */
const batchesOf = (rows: ReadonlyArray<RecordRow>): ReadonlyArray<ReadonlyArray<RecordRow>> => {
  const batches: Array<Array<RecordRow>> = [];
  for (const row of rows) {
    const last = batches.at(-1)?.at(-1);
    if (last !== undefined && last.thread_id === row.thread_id && last.batch_id === row.batch_id) {
      batches.at(-1)?.push(row);
    } else batches.push([row]);
  }
  return batches;
};

const rebuild = Effect.fnUntraced(function* (tenantId: string) {
  const sql = yield* SqlClient.SqlClient;
  // The first statement of the transaction, or the snapshot would not be one.
  yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`;
  yield* sql`SET LOCAL statement_timeout = 0`;
  const [{ live }] = yield* Effect.flatMap(
    sql`SELECT current_schema() AS live`,
    Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ live: Schema.String })])),
  );
  for (const table of shadowed) {
    yield* sql`CREATE TEMPORARY TABLE ${sql(table)} (LIKE ${sql(live)}.${sql(table)} INCLUDING ALL) ON COMMIT DROP`;
  }
  yield* sql`SET LOCAL search_path = pg_temp, ${sql(live)}`;
  yield* sql`INSERT INTO submissions SELECT * FROM ${sql(live)}.submissions WHERE tenant_id = ${tenantId}`;
  yield* sql`UPDATE submissions SET state = 'ready', settled_at = NULL`;
  yield* sql`INSERT INTO runs (tenant_id, run_id, thread_id, submission_id, agent_id, title, requester_id,
      requester_name, created_at)
    SELECT tenant_id, run_id, thread_id, submission_id, agent_id, title, requester_id, requester_name,
      created_at FROM submissions`;

  const page = SqlSchema.findAll({
    Request: Schema.Struct({ threadId: Schema.String, sequence: Schema.Int }),
    Result: RecordRow,
    execute: (after) => sql`
      SELECT r.thread_id, r.run_id, s.agent_id, r.sequence, r.batch_id, r.body
      FROM journal_records r JOIN submissions s ON s.tenant_id = r.tenant_id AND s.run_id = r.run_id
      WHERE r.tenant_id = ${tenantId}
        AND (r.thread_id, r.sequence) > (${after.threadId}, ${after.sequence})
      ORDER BY r.thread_id, r.sequence LIMIT ${pageSize}`,
  });
  const apply = (batch: ReadonlyArray<RecordRow>) => {
    const [first] = batch;
    if (first === undefined) return Effect.void;
    const placed = batch.map(({ sequence, body }): PlacedRecord => ({ sequence, record: body }));
    return sql`SELECT project_changes(${tenantId}, ${first.thread_id}, ${first.run_id}, ${first.agent_id},
      recorded_at, ${JSON.stringify(projectRecords(placed))}::json)
      FROM journal_records
      WHERE tenant_id = ${tenantId} AND thread_id = ${first.thread_id} AND sequence = ${first.sequence}`;
  };

  let records = 0;
  let after = { threadId: "", sequence: 0 };
  for (;;) {
    const rows = yield* page(after);
    const batches = batchesOf(rows);
    // The last batch of a full page may go on in the next one.
    const whole = rows.length < pageSize || batches.length === 1 ? batches : batches.slice(0, -1);
    for (const batch of whole) yield* apply(batch);
    const last = whole.at(-1)?.at(-1);
    if (last === undefined) break;
    records += whole.reduce((sum, batch) => sum + batch.length, 0);
    after = { threadId: last.thread_id, sequence: last.sequence };
    if (rows.length < pageSize) break;
  }

  const differences: Array<ProjectionDifference> = [];
  for (const [table, columns, where] of compared) {
    const find = SqlSchema.findAll({
      Request: Schema.Void,
      Result: DifferenceRow,
      execute: () => sql`
        WITH live AS (
          SELECT ${sql.literal(columns)} FROM ${sql(live)}.${sql(table)}
          WHERE tenant_id = ${tenantId} AND ${sql.literal(where)}
        ), rebuilt AS (
          SELECT ${sql.literal(columns)} FROM ${sql(table)} WHERE ${sql.literal(where)}
        ), missing AS (SELECT * FROM live EXCEPT SELECT * FROM rebuilt),
        surplus AS (SELECT * FROM rebuilt EXCEPT SELECT * FROM live)
        SELECT 'live' AS side, row_to_json(m)::text AS row FROM missing m
        UNION ALL
        SELECT 'rebuilt', row_to_json(s)::text FROM surplus s
        LIMIT ${maxDifferences}`,
    });
    for (const row of yield* find()) differences.push({ table, ...row });
  }
  return { records, differences: differences.slice(0, maxDifferences) } satisfies RebuildReport;
});

/** Compares the tenant's projections with what its records say (PG-01). */
export const rebuildProjections = Effect.fn("rebuildProjections")((tenantId: string) =>
  transaction("rebuildProjections", rebuild(tenantId)),
);
