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
import type { TenantId } from "#lib/contract/ids.ts";
import { millis } from "./columns.ts";
import { countOf } from "./page.ts";
import type { RunSearch } from "./run-search.ts";
import { afterCursor, type RunFilters, runMatches, titlesOf, walksOf } from "./run-walks.ts";
import { decodeRows } from "./snapshot.ts";

export interface RunSearchRequest {
  readonly tenantId: TenantId;
  readonly filters: RunFilters;
  readonly search: RunSearch;
  readonly cursor: ReadonlyArray<string> | undefined;
  /** Rows of the page, one more than it shows. */
  readonly limit: number;
}

/** Rows of the walk that a page is looked for in. */
const searchRows = 10_000;
/** Rows of the walk that are looked at for a count. */
const countRows = 5_000;
/** Fewer matches among those, and the text's own index finds few enough to check them all. */
const fewMatches = 25;

const Looked = Schema.Struct({
  looked: Schema.Int,
  matching: Schema.Int,
  /** When the oldest row that was looked at was created, milliseconds. */
  since: Schema.NullOr(Schema.Int),
});
const Indexed = Schema.Struct({ indexed: Schema.Boolean });
const Counted = Schema.Struct({ count: Schema.Int });

const lookAt = (
  sql: SqlClient,
  request: RunSearchRequest,
  cursor: RunSearchRequest["cursor"],
  rows: number,
) =>
  decodeRows(Looked)(sql`
    SELECT count(*)::int4 AS looked, (count(*) FILTER (WHERE ${request.search.matches}))::int4 AS matching,
      ${sql.literal(millis("min(r.created_at)"))} AS since
    FROM (${titlesOf(sql, walksOf(sql, request.filters), cursor, rows)}) AS r`).pipe(
    Effect.map((found) => found[0] ?? { looked: 0, matching: 0, since: null }),
  );

const isUsable = (sql: SqlClient, search: RunSearch) =>
  search.found === undefined || !search.needsTrigrams
    ? Effect.succeed(search.found)
    : decodeRows(Indexed)(
        sql`SELECT to_regclass('run_titles_by_trigram') IS NOT NULL AS indexed`,
      ).pipe(Effect.map((rows) => (rows[0]?.indexed === true ? search.found : undefined)));

/**
 * Of what the text's own index finds, the runs that the other filters hold for. Each is looked up by its
 * key: found runs are few, and a join might read every run instead.
 */
const foundKeys = (
  sql: SqlClient,
  request: RunSearchRequest,
  found: Fragment,
  cursor: RunSearchRequest["cursor"],
  limit: number,
): Fragment => {
  const conditions = [sql`k.run_id = f.run_id`, ...runMatches(sql, request.filters)];
  const after = afterCursor(sql, "f", cursor);
  return sql`SELECT f.created_at, f.run_id
    FROM (SELECT f.created_at, f.run_id ${found} ${after.length === 0 ? sql`` : sql`AND ${sql.and(after)}`} OFFSET 0) AS f
    CROSS JOIN LATERAL (SELECT FROM runs k WHERE ${sql.and(conditions)} LIMIT 1) AS held
    ORDER BY f.created_at DESC, f.run_id DESC LIMIT ${limit}`;
};

/** Counts exactly where all rows were looked at or few can match; else says how many there are at least. */
const countMatches = Effect.fnUntraced(function* (
  sql: SqlClient,
  request: RunSearchRequest,
  index: Fragment | undefined,
) {
  const { looked, matching } = yield* lookAt(sql, request, undefined, countRows);
  const isWhole = looked < countRows;
  if (isWhole || index === undefined || matching >= fewMatches)
    return { count: { value: matching, capped: !isWhole }, isRare: false };
  const count = yield* countOf((most) => foundKeys(sql, request, index, undefined, most));
  return { count, isRare: true };
});

/** The keys of a page of what matches the text and the filters, and the count of all of it. */
export const searchRuns = Effect.fnUntraced(function* (request: RunSearchRequest) {
  const sql = yield* SqlClient;
  const { filters, search, cursor, limit } = request;
  const index = yield* isUsable(sql, search);
  const { count, isRare } = yield* countMatches(sql, request, index);
  if (isRare && index !== undefined)
    return { keys: foundKeys(sql, request, index, cursor, limit), count, searched: undefined };
  const met = sql`SELECT r.created_at, r.run_id
    FROM (${titlesOf(sql, walksOf(sql, filters), cursor, searchRows)}) AS r
    WHERE ${search.matches} ORDER BY r.created_at DESC, r.run_id DESC LIMIT ${limit}`;
  const [found] = yield* decodeRows(Counted)(
    sql`SELECT count(*)::int4 AS count FROM (${met}) AS met`,
  );
  // The walk ends as soon as the page is full, so frequent texts cost little.
  if (found !== undefined && found.count >= limit) return { keys: met, count, searched: undefined };
  const { looked, since } = yield* lookAt(sql, request, cursor, searchRows);
  if (looked < searchRows || since === null) return { keys: met, count, searched: undefined };
  return index === undefined
    ? { keys: met, count, searched: { rows: looked, since } }
    : { keys: foundKeys(sql, request, index, cursor, limit), count, searched: undefined };
});
