/** Approvals whose time has passed become decisions of the system: row, event and audit in one transaction. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { RunEvent } from "#lib/contract/events.ts";
import {
  AgentId,
  ApprovalRequestId,
  RunId,
  TenantId,
  ThreadId,
  ToolCallId,
} from "#lib/contract/ids.ts";
import { encodeCanonicalJson } from "#lib/contract/json/canonical-json.ts";
import type { Actor } from "#lib/contract/records.ts";
import { Audit } from "#lib/durable/Audit.ts";
import { Millis } from "#server/postgres/columns.ts";

const Expired = Schema.Struct({
  tenant_id: TenantId,
  request_id: ApprovalRequestId,
  thread_id: ThreadId,
  run_id: RunId,
  agent_id: AgentId,
  turn: Schema.Int,
  call_id: ToolCallId,
  tool_name: Schema.String,
  expires_at: Millis,
});

const clock: Actor = { kind: "system", id: "clock", name: "the clock" };
const reason = "Nobody decided before the request expired.";

const encodeEvent = Schema.encodeSync(RunEvent);

const eventOf = (row: typeof Expired.Type): string =>
  Result.getOrThrow(
    encodeCanonicalJson(
      encodeEvent({
        _tag: "ApprovalDecided",
        turn: row.turn,
        callId: row.call_id,
        toolName: row.tool_name,
        requestId: row.request_id,
        decision: "expired",
        actor: clock,
        reason,
      }),
    ),
  );

/** Expires at most `limit` requests; call it in a transaction. Answers the threads they belong to. */
export const makeExpireApprovals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const audit = yield* Audit;

  const expire = SqlSchema.findAll({
    Request: Schema.Int,
    Result: Expired,
    execute: (limit) => sql`
      WITH passed AS (
        SELECT tenant_id, request_id FROM approval_requests
        WHERE state = 'pending' AND expires_at <= now()
        ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE approval_requests a SET
        state = 'expired', decided_at = date_trunc('milliseconds', clock_timestamp()),
        decider_kind = ${clock.kind}, decider_id = ${clock.id}, decider_name = ${clock.name},
        decision_reason = ${reason}
      FROM passed p
      WHERE a.tenant_id = p.tenant_id AND a.request_id = p.request_id
      RETURNING a.tenant_id, a.request_id, a.thread_id, a.run_id, a.agent_id, a.turn, a.call_id,
        a.tool_name, a.expires_at`,
  });

  return Effect.fnUntraced(function* (limit: number) {
    const rows = yield* expire(limit);
    for (const row of rows) {
      yield* sql`SELECT announce_event(${row.tenant_id}, ${row.agent_id}, ${row.thread_id}, ${row.run_id},
        'ApprovalDecided', ${eventOf(row)})`;
    }
    // Tenants in one order, so that two sweepers never wait for each other's audit tails.
    for (const row of rows.toSorted((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1))) {
      yield* audit.append({
        tenantId: row.tenant_id,
        actor: clock,
        verb: "expire-approval",
        target: row.request_id,
        runId: row.run_id,
        accepted: true,
        reason,
        before: { state: "pending", expiresAt: row.expires_at },
        after: { state: "expired" },
        commandId: null,
      });
    }
    return rows.map((row) => ({ tenantId: row.tenant_id, threadId: row.thread_id }));
  });
});
