/**
 * Takes one segment out of the tables, all of it or nothing, and leaves what says
 * so. Looks again under the thread's lock: a submission that came meanwhile, or a
 * pass that was here before, keeps everything as it is.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { emptyTail } from "#lib/durable/chain.ts";
import { textArray } from "#server/postgres/columns.ts";
import { transaction } from "#server/postgres/Database.ts";
import type { Segment } from "./find-segments.ts";

/** Tables whose rows are a run's. */
const tablesOfRuns = [
  "approval_requests",
  "unknown_probes",
  "unknown_outcomes",
  "denials",
  "diagnostics",
  "abort_requests",
  "tool_calls",
  "turns",
  "run_tools",
  "run_titles",
  "submissions",
  "runs",
] as const;

const Taken = Schema.Struct({ run_id: Schema.String });

/** Somebody was faster, or something of it is open again; the transaction is taken back. */
class SegmentChanged {
  readonly _tag = "SegmentChanged";
}

/** True when the segment was taken out now; false when it must stay or is gone already. */
export const makeRemoveSegment = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  // The digest of the last record stands for all before it: what was read or archived is what goes,
  // also where an archive is older than a restored backup.
  const lockThread = (segment: Segment & { readonly throughDigest: string }) => sql`
    SELECT FROM threads t
    WHERE t.tenant_id = ${segment.tenantId} AND t.thread_id = ${segment.threadId}
      AND coalesce(t.kept_after_sequence, 0) = ${segment.after.sequence}
      AND coalesce(t.kept_after_digest, ${emptyTail.digest}) = ${segment.after.digest}
      AND EXISTS (
        SELECT FROM journal_records r
        WHERE r.tenant_id = t.tenant_id AND r.thread_id = t.thread_id
          AND r.sequence = ${segment.through} AND r.digest = ${segment.throughDigest})
    FOR UPDATE`;

  const leaveTombstones = SqlSchema.findAll({
    Request: Schema.Struct({ archive: Schema.NullOr(Schema.String), segment: Schema.Any }),
    Result: Taken,
    execute: ({ archive, segment }) => sql`
      INSERT INTO archived_runs (tenant_id, run_id, thread_id, outcome, settled_at, archive)
      SELECT r.tenant_id, r.run_id, r.thread_id, r.state, s.settled_at, ${archive}
      FROM submissions s JOIN runs r ON r.tenant_id = s.tenant_id AND r.run_id = s.run_id
      WHERE s.tenant_id = ${segment.tenantId} AND s.thread_id = ${segment.threadId}
        AND s.run_id = ANY(${textArray(segment.runIds)})
        AND NOT EXISTS (
          SELECT FROM submissions o WHERE o.tenant_id = s.tenant_id AND o.thread_id = s.thread_id
            AND o.state <> 'settled')
        AND NOT EXISTS (
          SELECT FROM unknown_outcomes u WHERE u.tenant_id = s.tenant_id AND u.run_id = s.run_id
            AND u.state = 'open')
      RETURNING run_id`,
  });

  /** One statement: a round trip per table and thread would be most of the time of a pass. */
  const removeRows = (segment: Segment & { readonly throughDigest: string }) => {
    const { tenantId, threadId } = segment;
    const runs = textArray(segment.runIds);
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
    const records = sql`gone_records AS (
      DELETE FROM journal_records
      WHERE tenant_id = ${tenantId} AND thread_id = ${threadId} AND sequence <= ${segment.through})`;
    return sql`WITH ${sql.join(", ", false)([...ofApprovals, ...ofRuns, records])}
      UPDATE threads SET kept_after_sequence = ${segment.through},
        kept_after_digest = ${segment.throughDigest}
      WHERE tenant_id = ${tenantId} AND thread_id = ${threadId}`;
  };

  const remove = Effect.fnUntraced(function* (
    segment: Segment & { readonly throughDigest: string },
    archive: string | null,
  ) {
    // A long thread takes its time; nobody but its own next submission waits for it.
    yield* sql`SET LOCAL statement_timeout = 0`;
    if ((yield* lockThread(segment)).length === 0) return false;
    const left = yield* leaveTombstones({ archive, segment });
    if (left.length !== segment.runIds.length) {
      // Part of the segment is not what it was: the tombstones go again with the transaction.
      return yield* Effect.fail(new SegmentChanged());
    }
    yield* removeRows(segment);
    return true;
  });

  return (segment: Segment & { readonly throughDigest: string }, archive: string | null) =>
    transaction("Retention.remove", remove(segment, archive)).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.catchTag("SegmentChanged", () => Effect.succeed(false)),
    );
});
