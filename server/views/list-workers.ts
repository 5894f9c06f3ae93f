import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { TenantId } from "#lib/contract/ids.ts";
import { WorkerView } from "#lib/contract/agent-views.ts";
import { silentSeconds } from "#lib/durable/worker-silence.ts";
import { millis } from "./columns.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

/** Processes that were alive in the last day, and how many of this tenant's threads each owns; at most 500. */
export const listWorkers = Effect.fn("views.listWorkers")(function* (tenantId: TenantId) {
  const sql = yield* SqlClient;
  return yield* inSnapshot(
    tenantId,
    decodeRows(WorkerView)(sql`
      SELECT w.worker_id AS "workerId", w.address, ${sql.literal(millis("w.started_at"))} AS "startedAt",
        ${sql.literal(millis("w.heartbeat_at"))} AS "heartbeatAt",
        CASE WHEN w.stopped_at IS NOT NULL THEN 'stopped'
          WHEN w.heartbeat_at < clock_timestamp() - ${silentSeconds} * interval '1 second' THEN 'silent'
          ELSE 'alive' END AS state,
        (SELECT count(*)::int4 FROM threads t JOIN submissions s
          ON s.tenant_id = t.tenant_id AND s.thread_id = t.thread_id AND s.state = 'running'
          WHERE t.worker_id = w.worker_id AND t.tenant_id = ${tenantId}) AS threads,
        ${sql.literal(millis("w.last_takeover_at"))} AS "lastTakeoverAt"
      FROM workers w WHERE w.heartbeat_at > clock_timestamp() - interval '1 day'
      ORDER BY w.started_at DESC LIMIT 500`),
  );
});
