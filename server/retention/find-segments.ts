/** What of a tenant may be archived or deleted: settled runs of an age, wherever they stand in their threads. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { Int8 } from "#server/postgres/columns.ts";

/** Records that stand together, and what the first of them follows. */
export interface Range {
  readonly after: { readonly sequence: number; readonly digest: string };
  /** The last record's place. */
  readonly through: { readonly sequence: number; readonly digest: string };
  /** Runs of which the last record is here. */
  readonly runIds: ReadonlyArray<string>;
}

/** Whole runs of one thread that go together. */
export interface Segment {
  readonly tenantId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly ranges: ReadonlyArray<Range>;
}

export const runsOf = (segment: Segment): ReadonlyArray<string> =>
  segment.ranges.flatMap((range) => range.runIds);

export const recordsOf = (segment: Segment): number =>
  segment.ranges.reduce((sum, { after, through }) => sum + through.sequence - after.sequence, 0);

/** Threads that are looked at in one statement; the next look goes on behind them. */
const threadsAtOnce = 500;
/** Runs that go in one transaction: an owner of the thread waits for it with its next append. */
const runsAtOnce = 200;

const ThreadRow = Schema.Struct({
  thread_id: Schema.String,
  agent_id: Schema.String,
  may_go: Schema.Boolean,
});

const RangeRow = Schema.Struct({
  after_sequence: Int8,
  after_digest: Schema.String,
  through_sequence: Int8,
  through_digest: Schema.String,
  run_ids: Schema.Array(Schema.String),
});

const Request = Schema.Struct({
  tenantId: Schema.String,
  threadId: Schema.String,
  olderThanSeconds: Schema.Finite,
});

/** The last range in which a run stands is where it is said to end. */
const toRanges = (rows: ReadonlyArray<typeof RangeRow.Type>): ReadonlyArray<Range> => {
  const endOf = new Map(rows.flatMap((row) => row.run_ids.map((runId) => [runId, row] as const)));
  return rows.map((row) => ({
    after: { sequence: row.after_sequence, digest: row.after_digest },
    through: { sequence: row.through_sequence, digest: row.through_digest },
    runIds: row.run_ids.filter((runId) => endOf.get(runId) === row),
  }));
};

export const makeFindSegments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  /** Of a submission `s`: settled long enough ago, nothing of it in doubt, in no archive yet. */
  const mayGo = (olderThanSeconds: number) => sql`
    s.settled_at < now() - ${olderThanSeconds}::float8 * interval '1 second'
    AND NOT EXISTS (
      SELECT FROM unknown_outcomes u
      WHERE u.tenant_id = s.tenant_id AND u.run_id = s.run_id AND u.state = 'open')
    AND NOT EXISTS (
      SELECT FROM archived_copies c WHERE c.tenant_id = s.tenant_id AND c.run_id = s.run_id)`;

  const lookAtThreads = SqlSchema.findAll({
    Request: Schema.Struct({
      tenantId: Schema.String,
      after: Schema.String,
      olderThanSeconds: Schema.Finite,
    }),
    Result: ThreadRow,
    execute: ({ tenantId, after, olderThanSeconds }) => sql`
      SELECT t.thread_id, t.agent_id, EXISTS (
        SELECT FROM submissions s
        WHERE s.tenant_id = t.tenant_id AND s.thread_id = t.thread_id
          AND ${mayGo(olderThanSeconds)}) AS may_go
      FROM threads t WHERE t.tenant_id = ${tenantId} AND t.thread_id > ${after}
      ORDER BY t.thread_id LIMIT ${threadsAtOnce}`,
  });

  const findRanges = SqlSchema.findAll({
    Request,
    Result: RangeRow,
    execute: ({ tenantId, threadId, olderThanSeconds }) => sql`
      WITH going AS (
        SELECT s.run_id FROM submissions s
        WHERE s.tenant_id = ${tenantId} AND s.thread_id = ${threadId} AND ${mayGo(olderThanSeconds)}
        ORDER BY s.queue_sequence LIMIT ${runsAtOnce}
      ), marked AS (
        SELECT r.sequence, r.run_id, r.sequence - row_number() OVER (ORDER BY r.sequence) AS island
        FROM going g JOIN journal_records r ON r.tenant_id = ${tenantId} AND r.run_id = g.run_id
      ), ranges AS (
        SELECT min(sequence) AS first, max(sequence) AS last, json_agg(DISTINCT run_id) AS run_ids
        FROM marked GROUP BY island
      )
      SELECT e.first - 1 AS after_sequence, f.previous_digest AS after_digest,
        e.last AS through_sequence, l.digest AS through_digest, e.run_ids
      FROM ranges e
      JOIN journal_records f ON f.tenant_id = ${tenantId} AND f.thread_id = ${threadId} AND f.sequence = e.first
      JOIN journal_records l ON l.tenant_id = ${tenantId} AND l.thread_id = ${threadId} AND l.sequence = e.last
      ORDER BY e.first`,
  });

  /**
   * Segments of the next threads after one. A thread with more runs than go at once
   * gives its first ones: whoever took them asks again.
   *
   * @returns `next`: the thread to go on after; undefined when there are no more
   */
  return Effect.fnUntraced(function* (request: {
    readonly tenantId: string;
    readonly after: string;
    readonly olderThanSeconds: number;
  }) {
    const { tenantId, olderThanSeconds } = request;
    const threads = yield* lookAtThreads(request);
    const segments: Array<Segment> = [];
    let hasMore = false;
    for (const thread of threads) {
      if (!thread.may_go) continue;
      const threadId = thread.thread_id;
      const ranges = toRanges(yield* findRanges({ tenantId, threadId, olderThanSeconds }));
      if (ranges.length === 0) continue;
      const segment = { tenantId, threadId, agentId: thread.agent_id, ranges };
      hasMore ||= runsOf(segment).length >= runsAtOnce;
      segments.push(segment);
    }
    const next = threads.length < threadsAtOnce ? undefined : threads.at(-1)?.thread_id;
    return { segments, next, hasMore };
  });
});
