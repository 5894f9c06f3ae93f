/** What of a tenant may be archived or deleted: settled runs of an age, of threads where nothing is unsettled. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { emptyTail } from "#lib/durable/chain.ts";
import { Int8 } from "#server/postgres/columns.ts";
import { archivablePrefix } from "./archivable-prefix.ts";

/** The beginning of one thread, as far as it goes. */
export interface Segment {
  readonly tenantId: string;
  readonly threadId: string;
  readonly agentId: string;
  /** What the first record follows. */
  readonly after: { readonly sequence: number; readonly digest: string };
  /** The last record's place. */
  readonly through: number;
  readonly runIds: ReadonlyArray<string>;
}

/** Threads that are looked at in one statement; the next look goes on behind them. */
const threadsAtOnce = 500;

const ThreadRow = Schema.Struct({
  thread_id: Schema.String,
  agent_id: Schema.String,
  kept_after_sequence: Int8,
  kept_after_digest: Schema.String,
  may_go: Schema.Boolean,
});

const SpanRow = Schema.Struct({
  thread_id: Schema.String,
  run_id: Schema.String,
  first: Int8,
  last: Int8,
  may_go: Schema.Boolean,
});

export const makeFindSegments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;

  const lookAtThreads = SqlSchema.findAll({
    Request: Schema.Struct({
      tenantId: Schema.String,
      after: Schema.String,
      olderThanSeconds: Schema.Finite,
    }),
    Result: ThreadRow,
    execute: ({ tenantId, after, olderThanSeconds }) => sql`
      SELECT t.thread_id, t.agent_id, coalesce(t.kept_after_sequence, 0) AS kept_after_sequence,
        coalesce(t.kept_after_digest, ${emptyTail.digest}) AS kept_after_digest,
        t.tail_sequence > coalesce(t.kept_after_sequence, 0)
        AND NOT EXISTS (
          SELECT FROM submissions s
          WHERE s.tenant_id = t.tenant_id AND s.thread_id = t.thread_id AND s.state <> 'settled')
        AND EXISTS (
          SELECT FROM submissions s
          WHERE s.tenant_id = t.tenant_id AND s.thread_id = t.thread_id
            AND s.settled_at < now() - ${olderThanSeconds}::float8 * interval '1 second') AS may_go
      FROM threads t WHERE t.tenant_id = ${tenantId} AND t.thread_id > ${after}
      ORDER BY t.thread_id LIMIT ${threadsAtOnce}`,
  });

  const spansOf = SqlSchema.findAll({
    Request: Schema.Struct({
      tenantId: Schema.String,
      threadId: Schema.String,
      olderThanSeconds: Schema.Finite,
    }),
    Result: SpanRow,
    execute: ({ tenantId, threadId, olderThanSeconds }) => sql`
      SELECT s.thread_id, s.run_id, min(r.sequence) AS first, max(r.sequence) AS last,
        s.settled_at < now() - ${olderThanSeconds}::float8 * interval '1 second'
        AND NOT EXISTS (
          SELECT FROM unknown_outcomes u
          WHERE u.tenant_id = s.tenant_id AND u.run_id = s.run_id AND u.state = 'open') AS may_go
      FROM submissions s
      JOIN journal_records r ON r.tenant_id = s.tenant_id AND r.run_id = s.run_id
      WHERE s.tenant_id = ${tenantId} AND s.thread_id = ${threadId}
      GROUP BY s.tenant_id, s.thread_id, s.run_id, s.settled_at`,
  });

  /**
   * Segments of the next threads after one.
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
    for (const thread of threads) {
      if (!thread.may_go) continue;
      const threadId = thread.thread_id;
      const spans = yield* spansOf({ tenantId, threadId, olderThanSeconds });
      const prefix = archivablePrefix(
        spans.map((span) => ({
          runId: span.run_id,
          first: span.first,
          last: span.last,
          mayGo: span.may_go,
        })),
      );
      if (prefix === undefined) continue;
      segments.push({
        tenantId,
        threadId,
        agentId: thread.agent_id,
        after: { sequence: thread.kept_after_sequence, digest: thread.kept_after_digest },
        ...prefix,
      });
    }
    const next = threads.length < threadsAtOnce ? undefined : threads.at(-1)?.thread_id;
    return { segments, next };
  });
});
