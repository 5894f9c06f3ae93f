/** The run list with every filter of the console's page (OP-07). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";
import { defaultPageLimit, type pagingQuery } from "#lib/contract/http/paging.ts";
import type { runFilterQuery } from "#lib/contract/http/runs.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import { RunListItem } from "#lib/contract/run-views.ts";
import { columnText } from "#server/postgres/columns.ts";
import { runListColumns } from "./columns.ts";
import { cursorForms, decodeCursor, encodeCursor } from "./cursor.ts";
import { countOf } from "./page.ts";
import { runSearch } from "./run-search.ts";
import { keysOf, type RunFilters, walksOf } from "./run-walks.ts";
import { searchRuns } from "./search-runs.ts";
import { decodeRows, inSnapshot, newest } from "./snapshot.ts";

type Fields = typeof runFilterQuery & typeof pagingQuery;
export type RunListQuery = Schema.Struct<Fields>["Type"];

const Row = Schema.Struct({ ...RunListItem.fields, cursorAt: Schema.String });

/** No run is older than 1970, and PostgreSQL's years end where a number goes on. */
const sinceEpoch = (time: number | undefined): number | undefined =>
  time === undefined ? undefined : Math.max(0, time);

const filtersOf = (tenantId: TenantId, query: RunListQuery): RunFilters => {
  const chosen = query.state === undefined || query.state.length === 0 ? undefined : query.state;
  const { outcome } = query;
  const states =
    outcome === undefined
      ? chosen
      : chosen === undefined || chosen.includes(outcome)
        ? [outcome]
        : [];
  return {
    tenantId,
    states: states === undefined ? undefined : [...new Set(states)],
    agentId: query.agentId,
    threadId: query.threadId,
    tool: query.tool,
    failureTag: query.failureTag,
    from: sinceEpoch(query.from),
    to: sinceEpoch(query.to),
  };
};

/** Newest first, with the capped count of the whole filter from the same snapshot. */
export const listRuns = Effect.fn("views.listRuns")(function* (
  tenantId: TenantId,
  query: RunListQuery,
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.time, cursorForms.id]);
  const filters = filtersOf(tenantId, query);
  const limit = query.limit ?? defaultPageLimit;
  const text = columnText(query.text?.trim() ?? "");
  const rowsOf = (keys: Fragment) =>
    decodeRows(Row)(sql`
      SELECT ${sql.literal(runListColumns)}, r.created_at::text AS "cursorAt"
      FROM (${keys}) AS k JOIN runs r ON r.tenant_id = ${tenantId} AND r.run_id = k.run_id
      ORDER BY k.created_at DESC, k.run_id DESC`);
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const list =
        text === ""
          ? {
              keys: keysOf(sql, walksOf(sql, filters, cursor), limit + 1),
              count: yield* countOf((most) => keysOf(sql, walksOf(sql, filters, undefined), most)),
            }
          : yield* searchRuns({
              tenantId,
              filters,
              search: runSearch(sql, tenantId, text),
              cursor,
              limit: limit + 1,
            });
      const found = yield* rowsOf(list.keys);
      const { last } = yield* newest(tenantId);
      const items = found.slice(0, limit);
      const end = items.at(-1);
      return {
        items,
        count: list.count,
        asOf: last,
        ...("searched" in list && list.searched !== undefined ? { searched: list.searched } : {}),
        ...(found.length > limit && end !== undefined
          ? { next: encodeCursor([end.cursorAt, end.runId]) }
          : {}),
      };
    }),
  );
});
