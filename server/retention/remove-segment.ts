/**
 * Takes one segment out of the tables, all of it or nothing, and leaves what says
 * so. Looks again under the thread's lock: what changed meanwhile, or is gone
 * already, keeps everything as it is. Other work of the thread is not touched.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { textArray } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";
import { lockGaps, writeGaps } from "#server/postgres/journal-gaps.ts";
import { type Range, recordsOf, runsOf, type Segment } from "./find-segments.ts";
import { withGaps } from "./gaps.ts";
import { makeKeepLinks } from "./keep-links.ts";
import { holdKnownSchema } from "./known-schema.ts";

/** Tables whose rows are a run's. */
const tablesOfRuns = [
  "approval_requests",
  "unknown_probes",
  "unknown_outcomes",
  "denials",
  "diagnostics",
  "kept_results",
  "abort_requests",
  "tool_calls",
  "turns",
  "run_tools",
  "run_titles",
  "submissions",
  "runs",
  "archived_copies",
] as const;

/** Rows that are asked for by an id of their own, which leads to no run: what stays of them is whose they were. */
const itemsOfRuns = [
  ["approval_requests", "request_id"],
  ["unknown_outcomes", "unknown_id"],
  ["denials", "denial_id"],
  ["diagnostics", "diagnostic_id"],
] as const;

const Taken = Schema.Struct({ run_id: Schema.String });
const Count = Schema.Tuple([Schema.Struct({ count: Schema.Int })]);

/** Part of the segment is not what it was; the transaction is taken back. */
class SegmentChanged {
  readonly _tag = "SegmentChanged";
}

/** True when the segment was taken out now; false when it must stay or is gone already. */
export const makeRemoveSegment = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const keepLinks = yield* makeKeepLinks;

  // The digests at both ends stand for all between: what was read or archived is what goes,
  // also where an archive is older than a restored backup.
  const holds = (segment: Segment, { after, through }: Range) =>
    Effect.map(
      sql`SELECT FROM journal_records f, journal_records l
        WHERE f.tenant_id = ${segment.tenantId} AND f.thread_id = ${segment.threadId}
          AND f.sequence = ${after.sequence + 1} AND f.previous_digest = ${after.digest}
          AND l.tenant_id = f.tenant_id AND l.thread_id = f.thread_id
          AND l.sequence = ${through.sequence} AND l.digest = ${through.digest}`,
      (rows) => rows.length > 0,
    );

  const countRecords = (segment: Segment) =>
    Effect.map(
      Effect.flatMap(
        sql`SELECT count(*)::integer AS count FROM journal_records
          WHERE tenant_id = ${segment.tenantId} AND run_id = ANY(${textArray(runsOf(segment))})`,
        Schema.decodeUnknownEffect(Count),
      ),
      ([{ count }]) => count,
    );

  const leaveTombstones = SqlSchema.findAll({
    Request: Schema.Struct({ archive: Schema.NullOr(Schema.String), segment: Schema.Any }),
    Result: Taken,
    execute: ({ archive, segment }) => sql`
      INSERT INTO archived_runs (tenant_id, run_id, thread_id, outcome, settled_at, archive)
      SELECT r.tenant_id, r.run_id, r.thread_id, r.state, s.settled_at, ${archive}
      FROM submissions s JOIN runs r ON r.tenant_id = s.tenant_id AND r.run_id = s.run_id
      WHERE s.tenant_id = ${segment.tenantId} AND s.thread_id = ${segment.threadId}
        AND s.run_id = ANY(${textArray(runsOf(segment))}) AND s.state = 'settled'
        AND NOT EXISTS (
          SELECT FROM unknown_outcomes u WHERE u.tenant_id = s.tenant_id AND u.run_id = s.run_id
            AND u.state = 'open')
      RETURNING run_id`,
  });

  const keepItems = (segment: Segment) => {
    const runs = textArray(runsOf(segment));
    const items = itemsOfRuns.map(
      ([table, id]) => sql`SELECT tenant_id, ${sql(id)}, run_id FROM ${sql(table)}
        WHERE tenant_id = ${segment.tenantId} AND run_id = ANY(${runs})`,
    );
    return sql`INSERT INTO archived_items (tenant_id, item_id, run_id)
      ${items.reduce((before, next) => sql`${before} UNION ALL ${next}`)}
      ON CONFLICT (tenant_id, item_id) DO NOTHING`;
  };

  /** One statement: a round trip per table and thread would be most of the time of a pass. */
  const removeRows = (segment: Segment) => {
    const { tenantId } = segment;
    const runs = textArray(runsOf(segment));
    const ofApprovals = ["approval_looks", "approval_votes"].map(
      (table) => sql`${sql(`gone_${table}`)} AS (
        DELETE FROM ${sql(table)} v USING approval_requests a
        WHERE a.tenant_id = ${tenantId} AND a.run_id = ANY(${runs})
          AND v.tenant_id = a.tenant_id AND v.request_id = a.request_id)`,
    );
    const ofRuns = tablesOfRuns.map(
      (table) => sql`${sql(`gone_${table}`)} AS (
        DELETE FROM ${sql(table)} WHERE tenant_id = ${tenantId} AND run_id = ANY(${runs}))`,
    );
    return sql`WITH ${sql.join(", ", false)([...ofApprovals, ...ofRuns])}
      DELETE FROM journal_records WHERE tenant_id = ${tenantId} AND run_id = ANY(${runs})`;
  };

  const remove = Effect.fnUntraced(function* (segment: Segment, archive: string | null) {
    // First of all locks, as a migration takes it before every other.
    yield* holdKnownSchema;
    // A long thread takes its time; nobody but its own next append, and a migration, waits for it.
    yield* sql`SET LOCAL statement_timeout = 0`;
    const { tenantId, threadId, ranges } = segment;
    const gaps = yield* lockGaps(tenantId, threadId);
    if (gaps === undefined) return false;
    for (const range of ranges) if (!(yield* holds(segment, range))) return false;
    // Whole runs and nothing else: no record of another run within, none of theirs outside.
    if ((yield* countRecords(segment)) !== recordsOf(segment)) return false;
    const left = yield* leaveTombstones({ archive, segment });
    if (left.length !== runsOf(segment).length) return yield* Effect.fail(new SegmentChanged());
    const gapsLeft = withGaps(
      gaps,
      ranges.map(({ after, through }) => ({ after, through })),
    );
    yield* keepLinks(segment, gapsLeft);
    yield* keepItems(segment);
    yield* removeRows(segment);
    yield* writeGaps(tenantId, threadId, gapsLeft);
    return true;
  });

  return (segment: Segment, archive: string | null) =>
    transaction("Retention.remove", remove(segment, archive)).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.catchTag("SegmentChanged", () => Effect.succeed(false)),
    );
});
