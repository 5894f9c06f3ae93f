/**
 * A text in the run list. Two ways lead to a page, and what is met on the first decides: a text that many
 * runs have fills it from the walk of the other filters; one that few have is looked up by its own index,
 * and then the other filters are checked on what was found. Without such an index the newest rows of the
 * walk are all that is looked at, and the answer says so.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";
import { countCap } from "#lib/contract/http/paging.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import { millis } from "./columns.ts";
import type { RunSearch } from "./run-search.ts";
import {
  type Cursor,
  keysOf,
  type RunFilters,
  runMatches,
  timeRange,
  titlesOf,
  walksOf,
} from "./run-walks.ts";
import { decodeRows } from "./snapshot.ts";

export interface RunSearchRequest {
  readonly tenantId: TenantId;
  readonly filters: RunFilters;
  readonly search: RunSearch;
  readonly cursor: Cursor;
  /** Rows of the page, one more than it shows. */
  readonly limit: number;
}

interface Bounds {
  /** Rows of the walk that a page is looked for in. */
  readonly page: number;
  /** Rows of the walk that are looked at for a count. */
  readonly count: number;
  /** Fewer matches among those, and the text's own index finds few enough to check them all. */
  readonly few: number;
}

/** A walk of a tool's runs has no title beside it: each row is a look-up, which costs ten times a row. */
const boundsOf = ({ threadId, tool }: RunFilters): Bounds =>
  tool === undefined || threadId !== undefined
    ? { page: 10_000, count: 5_000, few: 25 }
    : { page: 5_000, count: 2_500, few: 12 };

const Looked = Schema.Struct({ looked: Schema.Int, matching: Schema.Int });
const Walked = Schema.Struct({
  looked: Schema.Int,
  /** When the oldest row that was looked at was created, milliseconds. */
  since: Schema.NullOr(Schema.Int),
});
const Indexed = Schema.Struct({ indexed: Schema.Boolean });
/** Keys as the JSON text of `created_at` and `run_id`. */
const Met = Schema.Struct({ count: Schema.Int, keys: Schema.String });

const isUsable = (sql: SqlClient, search: RunSearch) =>
  search.found === undefined || !search.needsTrigrams
    ? Effect.succeed(search.found)
    : decodeRows(Indexed)(
        sql`SELECT to_regclass('run_titles_by_trigram') IS NOT NULL AS indexed`,
      ).pipe(Effect.map((rows) => (rows[0]?.indexed === true ? search.found : undefined)));

/** Rows `k` of a table that is read where it is used, as a fragment; they were looked for once. */
const keysIn = (sql: SqlClient, { keys }: typeof Met.Type): Fragment =>
  sql`SELECT k.created_at, k.run_id
    FROM json_to_recordset(${keys}::json) AS k (created_at timestamptz, run_id text)`;

/** The first of some rows in the list's order, and how many rows there are in all. */
const meet = (sql: SqlClient, all: Fragment, page: Fragment, limit: number) =>
  decodeRows(Met)(sql`
    WITH met AS MATERIALIZED (${all})
    SELECT least((SELECT count(*) FROM met), ${countCap + 1})::int4 AS count,
      coalesce((SELECT json_agg(k) FROM (
        SELECT f.created_at, f.run_id FROM met f WHERE ${page}
        ORDER BY f.created_at DESC, f.run_id DESC LIMIT ${limit}) AS k), '[]')::text AS keys`).pipe(
    Effect.map((rows) => rows[0] ?? { count: 0, keys: "[]" }),
  );

/** How the first rows of the whole list, without a cursor, match. */
const lookAtStart = (sql: SqlClient, { filters, search }: RunSearchRequest, rows: number) =>
  decodeRows(Looked)(sql`
    SELECT count(*)::int4 AS looked, (count(*) FILTER (WHERE ${search.matches}))::int4 AS matching
    FROM (${titlesOf(sql, walksOf(sql, filters, undefined), rows)}) AS r`).pipe(
    Effect.map((found) => found[0] ?? { looked: 0, matching: 0 }),
  );

/**
 * Of what the text's own index finds, the runs that the other filters hold for: the page's keys, and the count
 * of all. Each is looked up by its key: found runs are few, and a join might read every run instead.
 */
const meetFound = (sql: SqlClient, request: RunSearchRequest, found: Fragment) => {
  const { cursor, filters, limit } = request;
  // A title's row has the run's own time.
  const inTime = timeRange(sql, "f", filters, undefined);
  const others = { ...filters, from: undefined, to: undefined };
  const conditions = [sql`k.run_id = f.run_id`, ...runMatches(sql, others, undefined)];
  const all = sql`SELECT f.created_at, f.run_id
    FROM (SELECT f.created_at, f.run_id ${found}
      ${inTime.length === 0 ? sql`` : sql`AND ${sql.and(inTime)}`} OFFSET 0) AS f
    CROSS JOIN LATERAL (SELECT FROM runs k WHERE ${sql.and(conditions)} LIMIT 1) AS held`;
  const behind = timeRange(sql, "f", others, cursor);
  return meet(sql, all, behind.length === 0 ? sql`true` : sql.and(behind), limit);
};

const capped = (count: number) => ({
  value: Math.min(count, countCap),
  capped: count > countCap,
});

/** The keys of a page of what matches the text and the filters, and the count of all of it. */
export const searchRuns = Effect.fnUntraced(function* (request: RunSearchRequest) {
  const sql = yield* SqlClient;
  const { filters, search, cursor, limit } = request;
  const bounds = boundsOf(filters);
  const index = yield* isUsable(sql, search);
  // Counts exactly where all rows were looked at or few can match; else says how many there are at least.
  const { looked, matching } = yield* lookAtStart(sql, request, bounds.count);
  const isWhole = looked < bounds.count;
  if (index !== undefined && !isWhole && matching < bounds.few) {
    const found = yield* meetFound(sql, request, index);
    return { keys: keysIn(sql, found), count: capped(found.count), searched: undefined };
  }
  const count = { value: matching, capped: !isWhole };
  const walks = walksOf(sql, filters, cursor);
  // The walk ends as soon as the page is full, so frequent texts cost little.
  const met = yield* meet(
    sql,
    sql`SELECT r.created_at, r.run_id FROM (${titlesOf(sql, walks, bounds.page)}) AS r
      WHERE ${search.matches} ORDER BY r.created_at DESC, r.run_id DESC LIMIT ${limit}`,
    sql`true`,
    limit,
  );
  if (met.count >= limit) return { keys: keysIn(sql, met), count, searched: undefined };
  const [walked] = yield* decodeRows(Walked)(sql`
    SELECT count(*)::int4 AS looked, ${sql.literal(millis("min(k.created_at)"))} AS since
    FROM (${keysOf(sql, walks, bounds.page)}) AS k`);
  if (walked === undefined || walked.looked < bounds.page || walked.since === null)
    return { keys: keysIn(sql, met), count, searched: undefined };
  if (index !== undefined)
    return {
      keys: keysIn(sql, yield* meetFound(sql, request, index)),
      count,
      searched: undefined,
    };
  return {
    keys: keysIn(sql, met),
    count,
    searched: { rows: walked.looked, since: walked.since },
  };
});
