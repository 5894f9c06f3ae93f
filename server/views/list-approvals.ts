/** The approval queue: pending nearest deadline first, decided latest first (OP-05, C003). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { AgentId, RunId, TenantId } from "#lib/contract/ids.ts";
import type { ApprovalState } from "#lib/contract/status.ts";
import { ApprovalListItem } from "#lib/contract/approval-views.ts";
import { millis } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { readPage } from "./page.ts";
import { inSnapshot } from "./snapshot.ts";

export interface ApprovalListQuery {
  readonly state?: ApprovalState;
  readonly agentId?: AgentId;
  readonly runId?: RunId;
  readonly cursor?: string;
  readonly limit?: number;
}

/** Columns of `approval_requests AS a JOIN runs AS r`: what a request's row says of itself. */
export const approvalOwnColumns = `
  a.request_id AS "requestId", a.run_id AS "runId", a.agent_id AS "agentId",
  a.thread_id AS "threadId", r.title AS "runTitle", a.turn, a.call_id AS "callId",
  a.tool_name AS "toolName", a.summary, a.risk, a.state, r.requester_name AS requester,
  ${millis("a.requested_at")} AS "requestedAt", ${millis("a.expires_at")} AS "expiresAt",
  ${millis("a.decided_at")} AS "decidedAt", a.decider_name AS "decidedBy"`;

/** And how many of its batch are pending with it. */
export const approvalListColumns = `${approvalOwnColumns},
  (SELECT count(*)::int4 FROM approval_requests b WHERE b.tenant_id = a.tenant_id
    AND b.run_id = a.run_id AND b.turn = a.turn AND b.state = 'pending') AS "batchPending"`;

const Row = Schema.Struct({ ...ApprovalListItem.fields, cursorAt: Schema.String });

export const listApprovals = Effect.fn("views.listApprovals")(function* (
  tenantId: TenantId,
  query: ApprovalListQuery,
) {
  const sql = yield* SqlClient;
  const state = query.state ?? "pending";
  const isPending = state === "pending";
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.time, cursorForms.id]);
  const where = [
    sql`a.tenant_id = ${tenantId}`,
    sql`a.state = ${state}`,
    // Said in words that the indexes' own conditions have, whatever is known of the value.
    sql.literal(isPending ? "a.state = 'pending'" : "a.state <> 'pending'"),
  ];
  if (query.agentId !== undefined) where.push(sql`a.agent_id = ${query.agentId}`);
  if (query.runId !== undefined) where.push(sql`a.run_id = ${query.runId}`);
  // What never expires comes last.
  const sortedBy = isPending ? "coalesce(a.expires_at, 'infinity'::timestamptz)" : "a.decided_at";
  const order = isPending ? "ASC" : "DESC";
  const after =
    cursor === undefined
      ? sql``
      : sql`AND ${sql.literal(`(${sortedBy}, a.request_id) ${isPending ? ">" : "<"}`)}
          (${cursor[0]}::timestamptz, ${cursor[1]})`;
  const matching = sql`FROM approval_requests a WHERE ${sql.and(where)}`;
  return yield* inSnapshot(
    tenantId,
    readPage({
      tenantId,
      limit: query.limit,
      schema: Row,
      rows: (limit) => sql`
        SELECT ${sql.literal(approvalListColumns)}, ${sql.literal(`(${sortedBy})::text`)} AS "cursorAt"
        FROM (SELECT a.* ${matching} ${after}
          ORDER BY ${sql.literal(`${sortedBy} ${order}, a.request_id ${order}`)} LIMIT ${limit}) AS a
        JOIN runs r ON r.tenant_id = a.tenant_id AND r.run_id = a.run_id
        ORDER BY ${sql.literal(`${sortedBy} ${order}, a.request_id ${order}`)}`,
      matching,
      cursorOf: (row) => [row.cursorAt, row.requestId],
    }),
  );
});
