/** The run list with every filter of the console's page (OP-07). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";
import type { pagingQuery } from "#lib/contract/http/paging.ts";
import type { runFilterQuery } from "#lib/contract/http/runs.ts";
import type { TenantId } from "#lib/contract/ids.ts";
import { RunListItem } from "#lib/contract/views.ts";
import { columnName, columnText } from "#server/postgres/columns.ts";
import { runListColumns } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { readPage } from "./page.ts";
import { inSnapshot } from "./snapshot.ts";

type Fields = typeof runFilterQuery & typeof pagingQuery;
export type RunListQuery = Schema.Struct<Fields>["Type"];

const Row = Schema.Struct({ ...RunListItem.fields, cursorAt: Schema.String });

/** `%`, `_` and `\` mean themselves in what a person searches for. */
const likePattern = (text: string): string => text.replaceAll(/[\\%_]/g, (found) => `\\${found}`);

/** The start of an id of ours: hexadecimal, so that a range of the index holds it in every collation. */
const idText = /^(?:run|thr)_[0-9a-f]{1,32}$/;

const textFilter = (sql: SqlClient, text: string): Fragment => {
  if (idText.test(text)) {
    const column = sql.literal(text.startsWith("run_") ? "r.run_id" : "r.thread_id");
    return sql`(${column} >= ${text} AND ${column} < ${`${text}z`})`;
  }
  const pattern = likePattern(text);
  return sql`(r.run_id LIKE ${`${pattern}%`} OR r.thread_id LIKE ${`${pattern}%`} OR r.title ILIKE ${`%${pattern}%`})`;
};

const filters = (sql: SqlClient, tenantId: TenantId, query: RunListQuery): Array<Fragment> => {
  const clauses: Array<Fragment> = [sql`r.tenant_id = ${tenantId}`];
  if (query.state !== undefined && query.state.length > 0)
    clauses.push(sql`r.state IN ${sql.in(query.state)}`);
  if (query.outcome !== undefined) clauses.push(sql`r.state = ${query.outcome}`);
  if (query.agentId !== undefined) clauses.push(sql`r.agent_id = ${query.agentId}`);
  if (query.threadId !== undefined) clauses.push(sql`r.thread_id = ${query.threadId}`);
  if (query.failureTag !== undefined)
    clauses.push(sql`r.failure_tag = ${columnName(query.failureTag)}`);
  if (query.from !== undefined)
    clauses.push(sql`r.created_at >= to_timestamp(${query.from}::float8 / 1000)`);
  if (query.to !== undefined)
    clauses.push(sql`r.created_at < to_timestamp(${query.to}::float8 / 1000)`);
  const text = columnText(query.text?.trim() ?? "");
  if (text !== "") clauses.push(textFilter(sql, text));
  return clauses;
};

/**
 * Newest first. A tool filter walks `run_tools`, which is in that order for each
 * tool, instead of looking at every run.
 */
export const listRuns = Effect.fn("views.listRuns")(function* (
  tenantId: TenantId,
  query: RunListQuery,
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.time, cursorForms.id]);
  const where = filters(sql, tenantId, query);
  const order = query.tool === undefined ? "r" : "t";
  const source =
    query.tool === undefined
      ? sql`FROM runs r`
      : sql`FROM run_tools t JOIN runs r ON r.tenant_id = t.tenant_id AND r.run_id = t.run_id`;
  if (query.tool !== undefined)
    where.push(sql`t.tenant_id = ${tenantId}`, sql`t.tool_name = ${columnName(query.tool)}`);
  const key = sql.literal(`(${order}.created_at, ${order}.run_id)`);
  const after =
    cursor === undefined ? sql`` : sql`AND ${key} < (${cursor[0]}::timestamptz, ${cursor[1]})`;
  const page = yield* inSnapshot(
    tenantId,
    readPage({
      tenantId,
      limit: query.limit,
      schema: Row,
      rows: (limit) => sql`
        SELECT ${sql.literal(runListColumns)}, r.created_at::text AS "cursorAt"
        ${source} WHERE ${sql.and(where)} ${after}
        ORDER BY ${sql.literal(`${order}.created_at DESC, ${order}.run_id DESC`)} LIMIT ${limit}`,
      matching: sql`${source} WHERE ${sql.and(where)}`,
      cursorOf: (row) => [row.cursorAt, row.runId],
    }),
  );
  return page;
});
