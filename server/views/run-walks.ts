/**
 * Which ordered walks of which indexes answer a filter of the run list. Each walk fixes the leading
 * columns of one index and goes on in `(created_at, run_id)`, newest first, so that a page costs the
 * same wherever it stands; a list is the merge of its walks. One filter and every pair of filters have
 * an index that carries them whole (migrations/README.md); what a third filter adds is looked at row by
 * row.
 */
import type { SqlClient } from "effect/unstable/sql/SqlClient";
import type { Fragment } from "effect/unstable/sql/Statement";
import type { AgentId, TenantId, ThreadId } from "#lib/contract/ids.ts";
import { RunOutcome, RunState } from "#lib/contract/status.ts";
import { columnName } from "#server/postgres/columns.ts";

/** The filters of the run list, the text apart. */
export interface RunFilters {
  readonly tenantId: TenantId;
  /** Any of these; undefined: all. Empty: nothing can match. */
  readonly states: ReadonlyArray<RunState> | undefined;
  readonly agentId: AgentId | undefined;
  readonly threadId: ThreadId | undefined;
  readonly tool: string | undefined;
  readonly failureTag: string | undefined;
  /** Milliseconds; `from` included, `to` not. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** `FROM runs k` or `FROM run_tools k`, and the conditions on `k`. */
export interface Walk {
  readonly table: "runs" | "run_tools";
  readonly where: ReadonlyArray<Fragment>;
}

const isOutcome = (state: RunState): state is RunOutcome =>
  RunOutcome.literals.some((outcome) => outcome === state);

/** The last row of the page before: its `created_at` as PostgreSQL prints it, and its `run_id`. */
export type Cursor = ReadonlyArray<string> | undefined;

/**
 * Where a walk begins: behind the page's cursor or before `to`, whichever is earlier. As one comparison: of
 * two, an index is entered at one and read up to the other, which is the whole list for a late page.
 */
const upperBound = (sql: SqlClient, row: "k" | "f", to: number | undefined, cursor: Cursor) => {
  const until = sql`to_timestamp(${to ?? 0}::float8 / 1000)`;
  const key = sql.literal(`(${row}.created_at, ${row}.run_id)`);
  if (cursor === undefined)
    return to === undefined ? [] : [sql`${sql.literal(`${row}.created_at`)} < ${until}`];
  const at = sql`${cursor[0]}::timestamptz`;
  return [
    to === undefined
      ? sql`${key} < (${at}, ${cursor[1]})`
      : // No id is before the empty one: nothing of the time `to` itself.
        sql`${key} < (least(${at}, ${until}), CASE WHEN ${at} < ${until} THEN ${cursor[1]} ELSE '' END)`,
  ];
};

/** What the filters and the cursor ask of `created_at` and `run_id` of a row. */
export const timeRange = (
  sql: SqlClient,
  row: "k" | "f",
  { from, to }: RunFilters,
  cursor: Cursor,
): ReadonlyArray<Fragment> => [
  ...(from === undefined
    ? []
    : [sql`${sql.literal(`${row}.created_at`)} >= to_timestamp(${from}::float8 / 1000)`]),
  ...upperBound(sql, row, to, cursor),
];

/** Every condition on a row of `runs`, the state and the tool apart. */
const runConditions = (
  sql: SqlClient,
  filters: RunFilters,
  cursor: Cursor,
): ReadonlyArray<Fragment> => [
  sql`k.tenant_id = ${filters.tenantId}`,
  ...(filters.agentId === undefined ? [] : [sql`k.agent_id = ${filters.agentId}`]),
  ...(filters.threadId === undefined ? [] : [sql`k.thread_id = ${filters.threadId}`]),
  ...(filters.failureTag === undefined
    ? []
    : [sql`k.failure_tag = ${columnName(filters.failureTag)}`]),
  ...timeRange(sql, "k", filters, cursor),
];

const calledTool = (sql: SqlClient, tool: string): Fragment => sql`EXISTS (
  SELECT FROM run_tools t WHERE t.tenant_id = k.tenant_id AND t.tool_name = ${columnName(tool)}
    AND t.created_at = k.created_at AND t.run_id = k.run_id)`;

/** Everything that the filters ask of one row `k` of `runs`, which stands behind the cursor. */
export const runMatches = (
  sql: SqlClient,
  filters: RunFilters,
  cursor: Cursor,
): ReadonlyArray<Fragment> => {
  const { states, tool } = filters;
  return [
    ...runConditions(sql, filters, cursor),
    ...(states === undefined
      ? []
      : [states.length === 0 ? sql`false` : sql`k.state IN ${sql.in(states)}`]),
    ...(tool === undefined ? [] : [calledTool(sql, tool)]),
  ];
};

/** Walks of `runs`: by state where the index has the state before the time, else one. */
const runWalks = (sql: SqlClient, filters: RunFilters, cursor: Cursor): ReadonlyArray<Walk> => {
  // A thread has few runs, and its index has no state: one walk of it, whatever the states.
  if (filters.threadId !== undefined)
    return [{ table: "runs", where: runMatches(sql, filters, cursor) }];
  const where = runMatches(sql, { ...filters, states: undefined }, cursor);
  const { agentId, failureTag } = filters;
  const isByState = (agentId === undefined) !== (failureTag === undefined);
  const states = filters.states ?? (isByState ? RunState.literals : undefined);
  if (states === undefined) return [{ table: "runs", where }];
  return states.map((state) => ({ table: "runs", where: [...where, sql`k.state = ${state}`] }));
};

const toolWalks = (
  sql: SqlClient,
  filters: RunFilters,
  tool: string,
  cursor: Cursor,
): ReadonlyArray<Walk> => {
  const where = [
    sql`k.tenant_id = ${filters.tenantId}`,
    sql`k.tool_name = ${columnName(tool)}`,
    ...(filters.agentId === undefined ? [] : [sql`k.agent_id = ${filters.agentId}`]),
    ...(filters.failureTag === undefined
      ? []
      : [sql`k.failure_tag = ${columnName(filters.failureTag)}`]),
    ...timeRange(sql, "k", filters, cursor),
  ];
  if (filters.states === undefined) return [{ table: "run_tools", where }];
  const open = filters.states.filter((state) => !isOutcome(state));
  return [
    ...filters.states
      .filter(isOutcome)
      .map((state): Walk => ({ table: "run_tools", where: [...where, sql`k.outcome = ${state}`] })),
    // Open runs are few and stand in `run_tools` without their state.
    ...(open.length === 0 ? [] : runWalks(sql, { ...filters, states: open }, cursor)),
  ];
};

/** The walks whose merge is the list behind the cursor; none when nothing can match. */
export const walksOf = (
  sql: SqlClient,
  filters: RunFilters,
  cursor: Cursor,
): ReadonlyArray<Walk> => {
  if (filters.states?.length === 0) return [];
  return filters.tool === undefined || filters.threadId !== undefined
    ? runWalks(sql, filters, cursor)
    : toolWalks(sql, filters, filters.tool, cursor);
};

/** The walks' rows in one order, newest first, at most `limit`; each is read only as far as it is asked for. */
const merged = (
  sql: SqlClient,
  walks: ReadonlyArray<Walk>,
  limit: number,
  columns: string,
  from: (walk: Walk) => Fragment,
): Fragment => {
  const one = (walk: Walk): Fragment => sql`
    (SELECT ${sql.literal(columns)} FROM ${from(walk)}
     WHERE ${sql.and(walk.where)}
     ORDER BY k.created_at DESC, k.run_id DESC LIMIT ${limit})`;
  const [first, ...others] = walks.map(one);
  const all = others.reduce(
    (before, next) => sql`${before} UNION ALL ${next}`,
    first ?? sql`SELECT ${sql.literal(columns)} FROM runs k WHERE false`,
  );
  return sql`SELECT merged.* FROM (${all}) AS merged
    ORDER BY merged.created_at DESC, merged.run_id DESC LIMIT ${limit}`;
};

/** Keys of the walks after the cursor: `created_at` and `run_id`. */
export const keysOf = (sql: SqlClient, walks: ReadonlyArray<Walk>, limit: number): Fragment =>
  merged(sql, walks, limit, "k.created_at, k.run_id", (walk) => sql`${sql(walk.table)} k`);

/** The same with what a text is looked for in: `title`, `thread_id`. */
export const titlesOf = (sql: SqlClient, walks: ReadonlyArray<Walk>, limit: number): Fragment =>
  merged(sql, walks, limit, "k.created_at, k.run_id, n.title, n.thread_id", (walk) =>
    walk.table === "runs"
      ? sql`runs k CROSS JOIN LATERAL (SELECT k.title, k.thread_id) AS n`
      : // LIMIT keeps it one look-up for each row: a join might read every run.
        sql`run_tools k CROSS JOIN LATERAL (
          SELECT s.title, s.thread_id FROM runs s
          WHERE s.tenant_id = k.tenant_id AND s.run_id = k.run_id LIMIT 1) AS n`,
  );
