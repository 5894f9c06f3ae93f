/**
 * When each turn and call of a run happened, as the JSON text that PostgreSQL writes: some 16,000 calls of a
 * run of 50,000 events go out without being read, checked and written again here, which would hold up every
 * other request of this process for a quarter of a second. A test reads the text by the contract's schema.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { timelineCalls } from "#lib/contract/http/run-parts.ts";
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import { millis } from "./columns.ts";
import { requireRun } from "./require-run.ts";
import { decodeRows, inSnapshot, newest } from "./snapshot.ts";

const Text = Schema.Struct({ items: Schema.String, left: Schema.Int });

const times = `'callId', t.call_id, 'toolName', t.tool_name, 'state', t.state,
  'declaredAt', ${millis("t.declared_at")}, 'requestedAt', ${millis("t.requested_at")},
  'decidedAt', ${millis("t.decided_at")}, 'startedAt', ${millis("t.started_at")},
  'endedAt', ${millis("t.ended_at")}`;

const ofTurn = `'turn', s.turn, 'startedAt', ${millis("s.started_at")},
  'recordedAt', ${millis("s.recorded_at")}, 'calls', coalesce(c.calls, '[]')`;

/**
 * A `RunTimes` as JSON text: the turns before `before`, the newest of them when they have more calls than one
 * answer holds.
 *
 * @param most calls of one answer; the turn that passes it still comes whole
 */
export const readRunTimes = Effect.fn("views.readRunTimes")(function* (
  tenantId: TenantId,
  runId: RunId,
  before: number,
  most = timelineCalls,
) {
  const sql = yield* SqlClient;
  return yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      yield* requireRun(tenantId, runId);
      const { last: asOf } = yield* newest(tenantId);
      // The calls are read in one pass: a look-up for each turn takes half as long again. MATERIALIZED keeps it one:
      // the plan for any values, which a connection turns to after five times, grouped all of them for each turn.
      const [text] = yield* decodeRows(Text)(sql`
        WITH older AS MATERIALIZED (
          SELECT turn, started_at, recorded_at, call_count,
            sum(call_count) OVER (ORDER BY turn DESC) - call_count AS newer
          FROM turns WHERE tenant_id = ${tenantId} AND run_id = ${runId} AND turn < ${before}
        ), shown AS (SELECT * FROM older WHERE newer < ${most}), calls AS MATERIALIZED (
          SELECT t.turn,
            json_agg(json_build_object(${sql.literal(times)}) ORDER BY t.call_index)
              FILTER (WHERE t.parent_call_id IS NULL) AS calls,
            json_agg(json_build_object(${sql.literal(times)}, 'parentCallId', t.parent_call_id)
              ORDER BY t.call_index) FILTER (WHERE t.parent_call_id IS NOT NULL) AS made
          FROM tool_calls t
          WHERE t.tenant_id = ${tenantId} AND t.run_id = ${runId} AND t.turn < ${before}
            AND t.turn >= (SELECT min(turn) FROM shown)
          GROUP BY t.turn)
        SELECT coalesce((
            SELECT json_agg(CASE WHEN c.made IS NULL THEN json_build_object(${sql.literal(ofTurn)})
              ELSE json_build_object(${sql.literal(ofTurn)}, 'inner', c.made) END ORDER BY s.turn)
            FROM shown s LEFT JOIN calls c ON c.turn = s.turn), '[]')::text AS items,
          (SELECT coalesce(sum(call_count), 0)::int4 FROM older WHERE newer >= ${most}) AS left`);
      return `{"items":${text?.items ?? "[]"},"left":${text?.left ?? 0},"asOf":${asOf}}`;
    }),
  );
});
