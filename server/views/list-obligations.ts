/** Every submission that still owes its settlement, oldest first (OP-11). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import {
  AgentId,
  EpochMillis,
  RunId,
  SubmissionId,
  type TenantId,
  ThreadId,
} from "#lib/contract/ids.ts";
import type { ObligationView } from "#lib/contract/obligation-views.ts";
import { millis } from "./columns.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { explainObligation, isHeld } from "./explain-obligation.ts";
import { readPage } from "./page.ts";
import { inSnapshot } from "./snapshot.ts";

const Row = Schema.Struct({
  submissionId: SubmissionId,
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  title: Schema.String,
  state: Schema.Literals(["ready", "running", "waiting", "unknown"]),
  since: EpochMillis,
  now: EpochMillis,
  attempts: Schema.Int,
  pendingApprovals: Schema.Int,
  openUnknowns: Schema.Int,
  postponedReason: Schema.NullOr(Schema.String),
  dueAt: Schema.NullOr(EpochMillis),
  abortRequested: Schema.Boolean,
  cursorAt: Schema.String,
});

const columns = `
  s.submission_id AS "submissionId", s.run_id AS "runId", s.thread_id AS "threadId",
  s.agent_id AS "agentId", s.title, s.state, ${millis("s.state_since")} AS since,
  ${millis("clock_timestamp()")} AS now, s.claims AS attempts,
  (SELECT count(*)::int4 FROM approval_requests a WHERE a.tenant_id = s.tenant_id
    AND a.run_id = s.run_id AND a.state = 'pending') AS "pendingApprovals",
  (SELECT count(*)::int4 FROM unknown_outcomes u WHERE u.tenant_id = s.tenant_id
    AND u.run_id = s.run_id AND u.state = 'open') AS "openUnknowns",
  s.postponed_reason AS "postponedReason",
  CASE WHEN s.state = 'ready' AND s.due_at > clock_timestamp() THEN ${millis("s.due_at")} END AS "dueAt",
  EXISTS (SELECT FROM abort_requests b WHERE b.tenant_id = s.tenant_id
    AND b.run_id = s.run_id) AS "abortRequested",
  s.created_at::text AS "cursorAt"`;

export const listObligations = Effect.fn("views.listObligations")(function* (
  tenantId: TenantId,
  query: { readonly cursor?: string; readonly limit?: number },
) {
  const sql = yield* SqlClient;
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.time, cursorForms.id]);
  const matching = sql`FROM submissions s WHERE s.tenant_id = ${tenantId} AND s.state <> 'settled'`;
  const after =
    cursor === undefined
      ? sql``
      : sql`AND (s.created_at, s.submission_id) > (${cursor[0]}::timestamptz, ${cursor[1]})`;
  const page = yield* inSnapshot(
    tenantId,
    readPage({
      tenantId,
      limit: query.limit,
      schema: Row,
      rows: (limit) => sql`
        SELECT ${sql.literal(columns)} ${matching} ${after}
        ORDER BY s.created_at, s.submission_id LIMIT ${limit}`,
      matching,
      cursorOf: (row) => [row.cursorAt, row.submissionId],
    }),
  );
  return {
    ...page,
    items: page.items.map((row): ObligationView => ({
      ...row,
      ...explainObligation(row),
      // No clock starts what is held.
      dueAt: isHeld(row) ? null : row.dueAt,
    })),
  };
});
