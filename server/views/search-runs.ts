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
import { countOf } from "./page.ts";
import type { RunSearch } from "./run-search.ts";
import { afterCursor, keysOf, type RunFilters, runMatches, walksOf } from "./run-walks.ts";
import { decodeRows } from "./snapshot.ts";

export interface RunSearchRequest {
  readonly tenantId: TenantId;
  readonly filters: RunFilters;
  readonly search: RunSearch;
  readonly cursor: ReadonlyArray<string> | undefined;
  /** Rows of the page, one more than it shows. */
  readonly limit: number;
}

/** Rows of the walk that are looked at before the text's own index is asked. */
const probeRows = 3_000;
/** Rows of the walk that are looked at for a count, and where the text has no index. */
const searchRows = 10_000;
/** Rarer than this among them, and the index finds few enough to check them all. */
const rareShare = 1 / 60;

const Looked = Schema.Struct({
  looked: Schema.Int,
  matching: Schema.Int,
  /** When the oldest row that was looked at was created, milliseconds. */
  since: Schema.NullOr(Schema.Int),
});
const Indexed = Schema.Struct({ indexed: Schema.Boolean });

/** One row of `runs` for each key, in whatever number: never a join that reads the whole table. */
const withRun = (sql: SqlClient, tenantId: TenantId, keys: Fragment): Fragment => sql`
  (${keys}) AS k CROSS JOIN LATERAL (
    SELECT s.* FROM runs s WHERE s.tenant_id = ${tenantId} AND s.run_id = k.run_id LIMIT 1) AS r`;

const lookAt = (
  sql: SqlClient,
  request: RunSearchRequest,
  cursor: RunSearchRequest["cursor"],
  rows: number,
) =>
  decodeRows(Looked)(sql`
    SELECT count(*)::int4 AS looked, (count(*) FILTER (WHERE ${request.search.matches}))::int4 AS matching,
      ${sql.literal(millis("min(k.created_at)"))} AS since
    FROM ${withRun(sql, request.tenantId, keysOf(sql, walksOf(sql, request.filters), cursor, rows))}`).pipe(
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

/** The keys of a page of what matches the text and the walks, and the count of all of it. */
export const searchRuns = Effect.fnUntraced(function* (request: RunSearchRequest) {
  const sql = yield* SqlClient;
  const { tenantId, filters, search, cursor, limit } = request;
  const walks = walksOf(sql, filters);
  const index = yield* isUsable(sql, search);
  const all = yield* lookAt(sql, request, undefined, searchRows);
  const isWhole = all.looked < searchRows;
  const isRare = all.matching < all.looked * rareShare;
  const count =
    isWhole || all.matching > countCap || index === undefined || !isRare
      ? {
          value: Math.min(all.matching, countCap),
          capped: !isWhole || all.matching > countCap,
        }
      : yield* countOf((most) => foundKeys(sql, request, index, undefined, most));
  const walked = (rows: number): Fragment => sql`
    SELECT k.created_at, k.run_id FROM ${withRun(sql, tenantId, keysOf(sql, walks, cursor, rows))}
    WHERE ${search.matches} ORDER BY k.created_at DESC, k.run_id DESC LIMIT ${limit}`;
  const ahead = yield* lookAt(sql, request, cursor, probeRows);
  if (ahead.matching >= limit || ahead.looked < probeRows)
    return { keys: walked(probeRows), count, searched: undefined };
  if (index !== undefined)
    return { keys: foundKeys(sql, request, index, cursor, limit), count, searched: undefined };
  const searched = yield* lookAt(sql, request, cursor, searchRows);
  return {
    keys: walked(searchRows),
    count,
    searched:
      searched.looked < searchRows || searched.matching >= limit || searched.since === null
        ? undefined
        : { rows: searched.looked, since: searched.since },
  };
});
