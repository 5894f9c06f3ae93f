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

const timeRange = (sql: SqlClient, filters: RunFilters): ReadonlyArray<Fragment> => [
  ...(filters.from === undefined
    ? []
    : [sql`k.created_at >= to_timestamp(${filters.from}::float8 / 1000)`]),
  ...(filters.to === undefined
    ? []
    : [sql`k.created_at < to_timestamp(${filters.to}::float8 / 1000)`]),
];

/** Every condition on a row of `runs`, the state and the tool apart. */
const runConditions = (sql: SqlClient, filters: RunFilters): ReadonlyArray<Fragment> => [
  sql`k.tenant_id = ${filters.tenantId}`,
  ...(filters.agentId === undefined ? [] : [sql`k.agent_id = ${filters.agentId}`]),
  ...(filters.threadId === undefined ? [] : [sql`k.thread_id = ${filters.threadId}`]),
  ...(filters.failureTag === undefined
    ? []
    : [sql`k.failure_tag = ${columnName(filters.failureTag)}`]),
  ...timeRange(sql, filters),
];

const calledTool = (sql: SqlClient, tool: string): Fragment => sql`EXISTS (
  SELECT FROM run_tools t WHERE t.tenant_id = k.tenant_id AND t.tool_name = ${columnName(tool)}
    AND t.created_at = k.created_at AND t.run_id = k.run_id)`;

/** Everything that the filters ask of one row `k` of `runs`. */
export const runMatches = (sql: SqlClient, filters: RunFilters): ReadonlyArray<Fragment> => {
  const { states, tool } = filters;
  return [
    ...runConditions(sql, filters),
    ...(states === undefined
      ? []
      : [states.length === 0 ? sql`false` : sql`k.state IN ${sql.in(states)}`]),
    ...(tool === undefined ? [] : [calledTool(sql, tool)]),
  ];
};

/** Walks of `runs`: by state where the index has the state before the time, else one. */
const runWalks = (sql: SqlClient, filters: RunFilters): ReadonlyArray<Walk> => {
  // A thread has few runs, and its index has no state: one walk of it, whatever the states.
  if (filters.threadId !== undefined) return [{ table: "runs", where: runMatches(sql, filters) }];
  const where = runMatches(sql, { ...filters, states: undefined });
  const { agentId, failureTag } = filters;
  const isByState = (agentId === undefined) !== (failureTag === undefined);
  const states = filters.states ?? (isByState ? RunState.literals : undefined);
  if (states === undefined) return [{ table: "runs", where }];
  return states.map((state) => ({ table: "runs", where: [...where, sql`k.state = ${state}`] }));
};

const toolWalks = (sql: SqlClient, filters: RunFilters, tool: string): ReadonlyArray<Walk> => {
  const where = [
    sql`k.tenant_id = ${filters.tenantId}`,
    sql`k.tool_name = ${columnName(tool)}`,
    ...(filters.agentId === undefined ? [] : [sql`k.agent_id = ${filters.agentId}`]),
    ...(filters.failureTag === undefined
      ? []
      : [sql`k.failure_tag = ${columnName(filters.failureTag)}`]),
    ...timeRange(sql, filters),
  ];
  if (filters.states === undefined) return [{ table: "run_tools", where }];
  const open = filters.states.filter((state) => !isOutcome(state));
  return [
    ...filters.states
      .filter(isOutcome)
      .map((state): Walk => ({ table: "run_tools", where: [...where, sql`k.outcome = ${state}`] })),
    // Open runs are few and stand in `run_tools` without their state.
    ...(open.length === 0 ? [] : runWalks(sql, { ...filters, states: open })),
  ];
};

/** The walks whose merge is the list; none when nothing can match. */
export const walksOf = (sql: SqlClient, filters: RunFilters): ReadonlyArray<Walk> => {
  if (filters.states?.length === 0) return [];
  return filters.tool === undefined || filters.threadId !== undefined
    ? runWalks(sql, filters)
    : toolWalks(sql, filters, filters.tool);
};

/** Rows after a page's cursor, in the order of the lists. */
export const afterCursor = (
  sql: SqlClient,
  row: "k" | "f",
  cursor: ReadonlyArray<string> | undefined,
): ReadonlyArray<Fragment> =>
  cursor === undefined
    ? []
    : [
        sql`(${sql.literal(`${row}.created_at, ${row}.run_id`)}) < (${cursor[0]}::timestamptz, ${cursor[1]})`,
      ];

type Cursor = ReadonlyArray<string> | undefined;

/** The walks' rows in one order, newest first, at most `limit`; each is read only as far as it is asked for. */
const merged = (
  sql: SqlClient,
  walks: ReadonlyArray<Walk>,
  cursor: Cursor,
  limit: number,
  columns: string,
  from: (walk: Walk) => Fragment,
): Fragment => {
  const one = (walk: Walk): Fragment => sql`
    (SELECT ${sql.literal(columns)} FROM ${from(walk)}
     WHERE ${sql.and([...walk.where, ...afterCursor(sql, "k", cursor)])}
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
export const keysOf = (
  sql: SqlClient,
  walks: ReadonlyArray<Walk>,
  cursor: Cursor,
  limit: number,
): Fragment =>
  merged(sql, walks, cursor, limit, "k.created_at, k.run_id", (walk) => sql`${sql(walk.table)} k`);

/** The same with what a text is looked for in: `title`, `thread_id`. */
export const titlesOf = (
  sql: SqlClient,
  walks: ReadonlyArray<Walk>,
  cursor: Cursor,
  limit: number,
): Fragment =>
  merged(sql, walks, cursor, limit, "k.created_at, k.run_id, n.title, n.thread_id", (walk) =>
    walk.table === "runs"
      ? sql`runs k CROSS JOIN LATERAL (SELECT k.title, k.thread_id) AS n`
      : // LIMIT keeps it one look-up for each row: a join might read every run.
        sql`run_tools k CROSS JOIN LATERAL (
          SELECT s.title, s.thread_id FROM runs s
          WHERE s.tenant_id = k.tenant_id AND s.run_id = k.run_id LIMIT 1) AS n`,
  );
