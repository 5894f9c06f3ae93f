/** The journal's rows in order, page by page, each page bounded in rows and in bytes. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import { Int8, Millis } from "#server/postgres/columns.ts";

const maxPageRows = 500;
/** A page ends with the record that passes this many bytes, so one is always read. */
const maxPageBytes = 8 * 1_048_576;

/** Threads of one tenant: one, or those after an id and through another in the database's order; an absent end is open. */
export interface ThreadRange {
  readonly tenantId: string;
  readonly only?: string;
  readonly after?: string;
  readonly through?: string;
}

/** A record as it is stored, its text unread. */
export const JournalRow = Schema.Struct({
  thread_id: Schema.String,
  run_id: Schema.String,
  /** Null where the run was never admitted. */
  agent_id: Schema.NullOr(Schema.String),
  sequence: Int8,
  epoch: Int8,
  kind: Schema.String,
  body: Schema.String,
  digest: Schema.String,
  previous_digest: Schema.String,
  batch_id: Schema.String,
  batch_place: Schema.Int,
  recorded_at: Millis,
});
export type JournalRow = typeof JournalRow.Type;

export const makeJournalPages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const decode = Schema.decodeUnknownEffect(Schema.Array(JournalRow));

  /** The condition of the range on a table that has tenant and thread, by its alias. */
  const inRange = (range: ThreadRange, alias: string) =>
    sql.and([
      sql`${sql(alias)}.tenant_id = ${range.tenantId}`,
      ...(range.only === undefined ? [] : [sql`${sql(alias)}.thread_id = ${range.only}`]),
      ...(range.after === undefined ? [] : [sql`${sql(alias)}.thread_id > ${range.after}`]),
      ...(range.through === undefined ? [] : [sql`${sql(alias)}.thread_id <= ${range.through}`]),
    ]);

  /**
   * The rows after one; none when there are no more.
   *
   * @param schema where the live tables are, which a temporary table may hide
   */
  const nextPage = Effect.fnUntraced(function* (
    schema: string,
    range: ThreadRange,
    after: { readonly threadId: string; readonly sequence: number } | undefined,
  ) {
    const from =
      after === undefined
        ? sql`true`
        : sql`(r.thread_id, r.sequence) > (${after.threadId}, ${after.sequence})`;
    // octet_length reads no body: a long text's length stands beside it.
    return yield* Effect.flatMap(
      sql`
        SELECT p.thread_id, p.run_id, s.agent_id, p.sequence, p.epoch, p.kind, p.body, p.digest,
          p.previous_digest, p.batch_id, p.batch_place, p.recorded_at
        FROM (
          SELECT q.*, sum(octet_length(q.body)) OVER (ORDER BY q.thread_id, q.sequence)
            - octet_length(q.body) AS bytes_before
          FROM (
            SELECT r.* FROM ${sql(schema)}.journal_records r WHERE ${inRange(range, "r")} AND ${from}
            ORDER BY r.thread_id, r.sequence LIMIT ${maxPageRows}
          ) AS q
        ) AS p
        LEFT JOIN ${sql(schema)}.submissions s ON s.tenant_id = p.tenant_id AND s.run_id = p.run_id
        WHERE p.bytes_before < ${maxPageBytes}
        ORDER BY p.thread_id, p.sequence`,
      decode,
    );
  });

  return { inRange, nextPage };
});
