/**
 * Rebuilds projections from journal records, beside the live tables and with the
 * same SQL as the append, and reports each row that differs. It reads one
 * snapshot, page by page in bounded memory, writes only temporary tables and
 * repairs nothing.
 *
 * What people and the clock write first (a decision before it is delivered, an
 * extension, an acknowledgement) is no projection and is not compared.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { RunRecord } from "#lib/contract/records.ts";
import { textArray } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";
import {
  type JournalRow,
  makeJournalPages,
  type ThreadRange,
} from "#server/postgres/journal-pages.ts";
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
  // What stands beside the tool is copied from the run by triggers, which the twins do not have.
  ["run_tools", "tenant_id, tool_name, created_at, run_id", "true"],
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
  ["submissions", "submission_id, run_id, thread_id, state = 'settled' AS settled", "true"],
];

const DifferenceRow = Schema.Struct({
  side: Schema.Literals(["live", "rebuilt"]),
  row: Schema.String,
});

const decodeBody = Schema.decodeUnknownResult(Schema.fromJsonString(RunRecord));

/** Records of one append, in their order. */
interface Batch {
  readonly rows: Array<JournalRow>;
}

/** What one append's records change, as `project_changes` takes it; undefined when one cannot be read. */
const changesOf = ({ rows: [first, ...rest] }: Batch) => {
  if (first === undefined) return undefined;
  const placed: Array<PlacedRecord> = [];
  for (const row of [first, ...rest]) {
    const record = decodeBody(row.body);
    if (Result.isFailure(record)) return undefined;
    placed.push({ sequence: row.sequence, record: record.success });
  }
  return {
    thread_id: first.thread_id,
    run_id: first.run_id,
    agent_id: first.agent_id,
    at_millis: first.recorded_at,
    changes: projectRecords(placed),
  };
};

/** Puts an empty twin before each projection, but for the submissions, which admission and not records made. */
const hideLiveTables = Effect.fnUntraced(function* (range: ThreadRange) {
  const sql = yield* SqlClient.SqlClient;
  const { inRange } = yield* makeJournalPages;
  const [{ live }] = yield* Effect.flatMap(
    sql`SELECT current_schema() AS live`,
    Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ live: Schema.String })])),
  );
  for (const table of shadowed) {
    yield* sql`CREATE TEMPORARY TABLE ${sql(table)} (LIKE ${sql(live)}.${sql(table)} INCLUDING ALL) ON COMMIT DROP`;
  }
  yield* sql`SET LOCAL search_path = pg_temp, ${sql(live)}`;
  yield* sql`INSERT INTO submissions SELECT * FROM ${sql(live)}.submissions s WHERE ${inRange(range, "s")}`;
  yield* sql`UPDATE submissions SET state = 'ready', settled_at = NULL`;
  yield* sql`INSERT INTO runs (tenant_id, run_id, thread_id, submission_id, agent_id, title, requester_id,
      requester_name, created_at)
    SELECT tenant_id, run_id, thread_id, submission_id, agent_id, title, requester_id, requester_name,
      created_at FROM submissions`;
  return live;
});

/** The schema of the live tables is hidden from here on by the twins; this takes them away again. */
export const dropTwins = Effect.fnUntraced(function* (live: string) {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`SET LOCAL search_path = ${sql(live)}`;
  for (const table of shadowed) yield* sql`DROP TABLE pg_temp.${sql(table)}`;
});

/**
 * Fills temporary twins of the projections from the records of a range. Unqualified
 * names mean the twins until the transaction ends or `dropTwins`.
 *
 * @param look hears of every record in order and says whether its thread can be rebuilt still
 * @returns `live`: the schema of the live tables; `unsound`: threads that were not rebuilt
 */
export const fillTwins = Effect.fnUntraced(function* (
  range: ThreadRange,
  look: (row: JournalRow) => boolean,
) {
  const sql = yield* SqlClient.SqlClient;
  const { nextPage } = yield* makeJournalPages;
  const live = yield* hideLiveTables(range);
  const unsound = new Set<string>();

  // One statement for the batches of a page: a million records are no million round trips.
  const apply = Effect.fnUntraced(function* (batches: ReadonlyArray<Batch>) {
    const changes = [];
    for (const batch of batches) {
      const [first] = batch.rows;
      if (first === undefined || unsound.has(first.thread_id)) continue;
      const change = changesOf(batch);
      if (change === undefined) unsound.add(first.thread_id);
      else changes.push(change);
    }
    if (changes.length === 0) return;
    yield* sql`SELECT project_changes(${range.tenantId}, b.thread_id, b.run_id, b.agent_id,
        from_millis(b.at_millis), b.changes)
      FROM json_to_recordset(${JSON.stringify(changes)}::json) AS b (
        thread_id text, run_id text, agent_id text, at_millis bigint, changes json)`;
  });

  let records = 0;
  let open: Batch = { rows: [] };
  let after: { readonly threadId: string; readonly sequence: number } | undefined;
  for (;;) {
    const rows = yield* nextPage(live, range, after);
    const complete: Array<Batch> = [];
    for (const row of rows) {
      if (!look(row)) unsound.add(row.thread_id);
      const last = open.rows.at(-1);
      if (last?.thread_id === row.thread_id && last.batch_id === row.batch_id) open.rows.push(row);
      else {
        complete.push(open);
        open = { rows: [row] };
      }
    }
    records += rows.length;
    const last = rows.at(-1);
    yield* apply(last === undefined ? [...complete, open] : complete);
    if (last === undefined) break;
    after = { threadId: last.thread_id, sequence: last.sequence };
  }
  return { live, records, unsound };
});

/**
 * Rebuilds the threads of a range and compares; call it in a REPEATABLE READ transaction.
 *
 * @param look hears of every record in order and says whether its thread can be rebuilt
 *   still: one whose records are not whole has no tables to compare
 */
export const rebuildRange = Effect.fnUntraced(function* (
  range: ThreadRange,
  look: (row: JournalRow) => boolean,
) {
  const sql = yield* SqlClient.SqlClient;
  const { inRange } = yield* makeJournalPages;
  const { live, records, unsound } = yield* fillTwins(range, look);

  const sound = (table: string) => {
    const threads =
      table === "run_tools"
        ? sql`t.run_id IN (SELECT u.run_id FROM ${sql(live)}.submissions u
            WHERE u.tenant_id = t.tenant_id AND u.thread_id <> ALL(${textArray([...unsound])}))`
        : sql`t.thread_id <> ALL(${textArray([...unsound])})`;
    const within =
      table === "run_tools"
        ? sql`t.tenant_id = ${range.tenantId} AND t.run_id IN (
            SELECT s.run_id FROM ${sql(live)}.submissions s WHERE ${inRange(range, "s")})`
        : inRange(range, "t");
    return sql`${within} AND ${threads}`;
  };
  const differences: Array<ProjectionDifference> = [];
  for (const [table, columns, where] of compared) {
    const find = SqlSchema.findAll({
      Request: Schema.Void,
      Result: DifferenceRow,
      execute: () => sql`
        WITH live AS (
          SELECT ${sql.literal(columns)} FROM ${sql(live)}.${sql(table)} t
          WHERE ${sound(table)} AND ${sql.literal(where)}
        ), rebuilt AS (
          SELECT ${sql.literal(columns)} FROM ${sql(table)} t
          WHERE ${sound(table)} AND ${sql.literal(where)}
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

/** The first statements of the transaction, or the snapshot would not be one. */
export const inJournalSnapshot = <A, E, R>(operation: string, reads: Effect.Effect<A, E, R>) =>
  transaction(
    operation,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`;
      yield* sql`SET LOCAL statement_timeout = 0`;
      return yield* reads;
    }),
  );

/** Compares all of a tenant's projections with what its records say (PG-01). */
export const rebuildProjections = Effect.fn("rebuildProjections")((tenantId: string) =>
  inJournalSnapshot(
    "rebuildProjections",
    rebuildRange({ tenantId }, () => true),
  ),
);
