/** Reads what `explainRun` judges, and every recovery decision as its attempt recorded it. */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { EpochMillis, type RunId, type TenantId } from "#lib/contract/ids.ts";
import { AttemptStarted } from "#lib/contract/records.ts";
import { RunState } from "#lib/contract/status.ts";
import type { RunExplanation } from "#lib/contract/obligation-views.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { silentSeconds } from "#lib/durable/worker-silence.ts";
import { millis } from "./columns.ts";
import { decisionMeaning } from "./decision-meaning.ts";
import { explainRun } from "./explain-run.ts";
import { decodeRows, inSnapshot } from "./snapshot.ts";

const maxDecisions = 200;

const Row = Schema.Struct({
  state: RunState,
  finishReason: Schema.NullOr(Schema.String),
  failureMessage: Schema.NullOr(Schema.String),
  submission: Schema.Literals(["ready", "running", "waiting", "unknown", "settled"]),
  since: EpochMillis,
  dueAt: EpochMillis,
  now: EpochMillis,
  claims: Schema.Int,
  lostAttempts: Schema.Int,
  postponedReason: Schema.NullOr(Schema.String),
  pendingApprovals: Schema.Int,
  openUnknowns: Schema.Int,
  abortRequested: Schema.Boolean,
  canGoOn: Schema.Boolean,
  behind: Schema.NullOr(Schema.String),
  workerAlive: Schema.Boolean,
  /** Of a failed run; none of any other. */
  startedEffects: Schema.Array(Schema.String),
});

/** The row of one run; in the caller's transaction, and `NotFound` for a missing or foreign run. */
export const readRunToExplain = (tenantId: TenantId, runId: RunId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(Row)(sql`
      SELECT r.state, r.finish_reason AS "finishReason", r.failure_message AS "failureMessage",
        s.state AS submission, ${sql.literal(millis("s.state_since"))} AS since,
        ${sql.literal(millis("s.due_at"))} AS "dueAt",
        ${sql.literal(millis("clock_timestamp()"))} AS now, s.claims,
        s.lost_attempts AS "lostAttempts", s.postponed_reason AS "postponedReason",
        (SELECT count(*)::int4 FROM approval_requests a WHERE a.tenant_id = s.tenant_id
          AND a.run_id = s.run_id AND a.state = 'pending') AS "pendingApprovals",
        (SELECT count(*)::int4 FROM unknown_outcomes u WHERE u.tenant_id = s.tenant_id
          AND u.run_id = s.run_id AND u.state = 'open' AND NOT u.after_settlement) AS "openUnknowns",
        EXISTS (SELECT FROM abort_requests b WHERE b.tenant_id = s.tenant_id
          AND b.run_id = s.run_id) AS "abortRequested",
        submission_can_go_on(s) AS "canGoOn",
        (SELECT e.run_id FROM submissions e
          WHERE e.tenant_id = s.tenant_id AND e.thread_id = s.thread_id AND s.state <> 'settled'
            AND e.queue_sequence < s.queue_sequence AND e.state <> 'settled'
            AND NOT (e.state = 'unknown' AND e.unknown_policy = 'park')
          ORDER BY e.queue_sequence DESC LIMIT 1) AS behind,
        coalesce((SELECT w.stopped_at IS NULL
            AND w.heartbeat_at > clock_timestamp() - ${silentSeconds} * interval '1 second'
          FROM threads t JOIN workers w ON w.worker_id = t.worker_id
          WHERE t.tenant_id = s.tenant_id AND t.thread_id = s.thread_id), false) AS "workerAlive",
        -- Asked of a failed run alone (judgeRetry): a long one has many calls.
        CASE WHEN s.state <> 'settled' OR r.state <> 'failed' THEN ARRAY[]::text[]
        ELSE ARRAY(SELECT DISTINCT c.tool_name FROM tool_calls c
          WHERE c.tenant_id = s.tenant_id AND c.run_id = s.run_id AND c.prepared_sequence IS NOT NULL
            AND NOT EXISTS (SELECT FROM unknown_outcomes u WHERE u.tenant_id = c.tenant_id
              AND u.unknown_id = c.unknown_id AND u.after_settlement AND u.resolution = 'never-happened')
          ORDER BY c.tool_name LIMIT 20) END AS "startedEffects"
      FROM submissions s JOIN runs r ON r.tenant_id = s.tenant_id AND r.run_id = s.run_id
      WHERE s.tenant_id = ${tenantId} AND s.run_id = ${runId}`);
    return rows[0] ?? (yield* notFound("run"));
  });

const DecisionRow = Schema.Struct({
  at: EpochMillis,
  record: Schema.fromJsonString(AttemptStarted),
  suspendedFor: Schema.NullOr(Schema.Literals(["approval", "unknown"])),
});

/**
 * The newest decisions, oldest first. A run's records are gone through once: looked for beside each attempt, how it
 * ended would be a search of them all for every attempt that was lost.
 */
const readDecisions = (tenantId: TenantId, runId: RunId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(DecisionRow)(sql`
      WITH told AS MATERIALIZED (
        SELECT j.sequence, j.epoch, j.kind, j.recorded_at, j.body FROM journal_records j
        WHERE j.tenant_id = ${tenantId} AND j.run_id = ${runId} AND j.kind IN ('AttemptStarted', 'RunSuspended')
      ), ended AS (
        SELECT DISTINCT ON (n.epoch) n.epoch, n.body::json ->> 'waitingFor' AS waiting_for
        FROM told n WHERE n.kind = 'RunSuspended' ORDER BY n.epoch, n.sequence DESC
      )
      SELECT ${sql.literal(millis("j.recorded_at"))} AS at, j.body AS record, n.waiting_for AS "suspendedFor"
      FROM told j LEFT JOIN ended n ON n.epoch = j.epoch
      WHERE j.kind = 'AttemptStarted'
      ORDER BY j.sequence DESC LIMIT ${maxDecisions}`),
  ).pipe(Effect.map((rows) => rows.toReversed()));

export const readRunExplanation = Effect.fn("views.readRunExplanation")(function* (
  tenantId: TenantId,
  runId: RunId,
) {
  const { run, decisions } = yield* inSnapshot(
    tenantId,
    Effect.all({
      run: readRunToExplain(tenantId, runId),
      decisions: readDecisions(tenantId, runId),
    }),
  );
  const view: RunExplanation = {
    runId,
    ...explainRun(run),
    decisions: decisions.map(({ at, record, suspendedFor }) => ({
      attempt: record.attempt,
      epoch: record.epoch,
      decision: record.decision,
      explanation: record.explanation,
      meaning: decisionMeaning[record.decision],
      startedAt: at,
      suspendedFor,
    })),
    serverTime: run.now,
  };
  return view;
});
