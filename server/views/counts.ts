import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { TenantId } from "#lib/contract/ids.ts";
import { Counts } from "#lib/contract/shell-views.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

/** The badges: each stops counting at 10,001, so a flood cannot make every page slow (C083). */
export const readCounts = Effect.fn("views.readCounts")(function* (tenantId: TenantId) {
  const sql = yield* SqlClient;
  const rows = yield* inSnapshot(
    tenantId,
    decodeRows(Counts)(sql`
      SELECT
        (SELECT count(*)::int4 FROM (SELECT 1 FROM approval_requests
          WHERE tenant_id = ${tenantId} AND state = 'pending' LIMIT 10001) c) AS "pendingApprovals",
        (SELECT count(*)::int4 FROM (SELECT 1 FROM unknown_outcomes
          WHERE tenant_id = ${tenantId} AND state = 'open' LIMIT 10001) c) AS "openUnknowns",
        (SELECT count(*)::int4 FROM (SELECT 1 FROM denials
          WHERE tenant_id = ${tenantId} AND acknowledged_at IS NULL LIMIT 10001) c) AS "openDenials",
        (SELECT count(*)::int4 FROM (SELECT 1 FROM submissions
          WHERE tenant_id = ${tenantId} AND state <> 'settled' LIMIT 10001) c) AS "activeRuns",
        coalesce((SELECT last_sequence FROM event_tails WHERE tenant_id = ${tenantId}), 0)::float8 AS "asOf",
        trunc(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "serverTime"`),
  );
  return rows[0] ?? (yield* Effect.die("A SELECT without FROM gives one row"));
});
