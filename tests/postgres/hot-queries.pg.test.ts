import { assert, layer } from "@effect/vitest";
import * as Effect from "effect/Effect";
import { TenantId } from "#lib/contract/ids.ts";
import * as Database from "#server/postgres/Database.ts";
import { actForTenant } from "#server/views/snapshot.ts";
import { rows, store } from "#tests/postgres/store.ts";

/** Enough rows that PostgreSQL prefers an index by its own statistics. */
const seed = Effect.gen(function* () {
  yield* rows(`
    INSERT INTO runs (tenant_id, run_id, thread_id, submission_id, agent_id, state, title, requester_id, requester_name,
      failure_tag, created_at, settled_at)
    SELECT CASE WHEN n % 11 = 0 THEN 'small' ELSE 'big' END, 'run_' || n, 'thr_' || (n / 3), 'sub_' || n, 'agent_' || (n % 7),
      (ARRAY['completed', 'completed', 'completed', 'failed', 'aborted', 'waiting'])[1 + n % 6], 'title ' || md5(n::text), 'ada', 'Ada',
      CASE WHEN n % 6 = 3 THEN 'Tag' || (n % 11) END, timestamptz '2026-01-01' + n * interval '1 second',
      CASE WHEN n % 6 < 5 THEN now() END
    FROM generate_series(1, 60000) n`);
  yield* rows(`
    INSERT INTO run_tools (tenant_id, tool_name, created_at, run_id)
    SELECT tenant_id, 'tool_' || (row_number() OVER () % 9), created_at, run_id FROM runs`);
  yield* rows(
    `
    INSERT INTO submissions (tenant_id, submission_id, thread_id, run_id, agent_id, queue_sequence, state, title, input,
      requester_kind, requester_id, requester_name, settled_at, due_at)
    SELECT tenant_id, submission_id, thread_id, run_id, agent_id, row_number() OVER (PARTITION BY tenant_id, thread_id), 
      CASE WHEN state = 'waiting' THEN 'waiting' ELSE 'settled' END, title, '{}', 'operator', 'ada', 'Ada',
      CASE WHEN state = 'waiting' THEN NULL ELSE now() END, now() FROM runs`.replace(
      "INSERT INTO submissions",
      "WITH t AS (INSERT INTO threads (tenant_id, thread_id, agent_id) SELECT DISTINCT tenant_id, thread_id, 'a' FROM runs) INSERT INTO submissions",
    ),
  );
  yield* rows(`
    INSERT INTO approval_requests (tenant_id, request_id, thread_id, run_id, agent_id, turn, call_id, tool_name, summary, risk,
      denial_rule, approvers_required, self_approval, parameters_digest, content, requested_sequence, requested_at, expires_at,
      state, decider_kind, decider_id, decider_name, decided_at, delivered_at)
    SELECT tenant_id, 'apr_' || run_id, thread_id, run_id, agent_id, 1, 'c1', 'refund', 's', 'high', 'recoverable', 1, true,
      repeat('a', 64), '{}', 1, created_at, now() + (row_number() OVER ()) * interval '1 second',
      CASE WHEN state = 'waiting' THEN 'pending' ELSE 'approved' END,
      CASE WHEN state = 'waiting' THEN NULL ELSE 'operator' END, CASE WHEN state = 'waiting' THEN NULL ELSE 'a' END,
      CASE WHEN state = 'waiting' THEN NULL ELSE 'a' END, CASE WHEN state = 'waiting' THEN NULL ELSE now() END,
      CASE WHEN state = 'waiting' THEN NULL ELSE now() END
    FROM runs`);
  yield* rows(`
    INSERT INTO events (tenant_id, sequence, agent_id, thread_id, run_id, kind, at, body)
    SELECT CASE WHEN n % 10 = 0 THEN 'small' ELSE 'big' END, n, 'a', 't', 'run_' || (n / 20), 'RunAborted', now(), '{}'
    FROM generate_series(1, 60000) n`);
  yield* rows(`
    INSERT INTO denials (tenant_id, denial_id, run_id, thread_id, agent_id, turn, call_id, tool_name, kind, reason, denied_sequence,
      denied_at, acknowledged_at, acknowledger_id, acknowledger_name, note)
    SELECT tenant_id, 'den_' || run_id, run_id, thread_id, agent_id, 1, 'c1', 'refund',
      CASE WHEN state = 'aborted' THEN 'check-error' ELSE 'denial' END, 'r', 1, created_at,
      CASE WHEN state <> 'waiting' THEN now() END, CASE WHEN state <> 'waiting' THEN 'ada' END,
      CASE WHEN state <> 'waiting' THEN 'Ada' END, CASE WHEN state <> 'waiting' THEN 'seen' END
    FROM runs`);
  yield* rows(`
    INSERT INTO audit_log (tenant_id, sequence, at, actor_kind, actor_id, actor_name, verb, target, accepted, reason,
      digest, previous_digest)
    SELECT 'big', n, now(), 'operator', 'op_' || (n % 5), 'Ada', 'verb_' || (n % 13), 't', n % 17 <> 0, '', 'd', 'p'
    FROM generate_series(1, 60000) n`);
  // The visibility map is what lets an index answer alone.
  yield* rows("VACUUM ANALYZE audit_log");
  yield* rows("ANALYZE");
});

const explain = (statement: string) =>
  Effect.map(rows(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT TEXT) ${statement}`), (plan) =>
    plan.map((line) => String(line["QUERY PLAN"])).join("\n"),
  );

/** As the console reads: below the policies of the tenant that the statement names. */
const explainBound = (statement: string) => {
  const tenant = /tenant_id = '(\w+)'/.exec(statement)?.[1] ?? "big";
  return Database.transaction(
    "explain",
    Effect.andThen(actForTenant(TenantId.make(tenant)), explain(statement)),
  );
};

const page = (where: string) =>
  `SELECT run_id, created_at FROM runs WHERE tenant_id = 'big' AND ${where}
   AND (created_at, run_id) < (timestamptz '2026-01-01 12:00', 'run_') ORDER BY created_at DESC, run_id DESC LIMIT 50`;

const toolPage = (where: string) =>
  `SELECT run_id, created_at FROM run_tools WHERE tenant_id = 'big' AND tool_name = 'tool_3' AND ${where}
   AND (created_at, run_id) < (timestamptz '2026-01-01 12:00', 'run_') ORDER BY created_at DESC, run_id DESC LIMIT 50`;

const hot: ReadonlyArray<readonly [claim: string, statement: string, index: string]> = [
  ["runs, newest first", page("true"), "runs_by_time"],
  ["runs in one state", page("state = 'waiting'"), "runs_by_state"],
  ["runs with one outcome", page("state = 'aborted'"), "runs_by_state"],
  [
    "runs of one agent in one state",
    page("agent_id = 'agent_3' AND state = 'aborted'"),
    "runs_by_agent_and_state",
  ],
  [
    "runs that failed one way in one state",
    page("failure_tag = 'Tag3' AND state = 'failed'"),
    "runs_by_failure_and_state",
  ],
  [
    "runs of one agent that failed one way",
    page("failure_tag = 'Tag3' AND agent_id = 'agent_3'"),
    "runs_by_failure_and_agent",
  ],
  ["runs of one thread", page("thread_id = 'thr_77'"), "runs_by_thread"],
  ["runs that called one tool", toolPage("true"), "run_tools_pkey"],
  [
    "runs of one agent that called one tool",
    toolPage("agent_id = 'agent_3'"),
    "run_tools_by_agent",
  ],
  [
    "runs with one outcome that called one tool",
    toolPage("outcome = 'aborted'"),
    "run_tools_by_outcome",
  ],
  [
    "runs that failed one way and called one tool",
    toolPage("failure_tag = 'Tag3'"),
    "run_tools_by_failure",
  ],
  [
    "approvals, nearest deadline first",
    `SELECT request_id FROM approval_requests WHERE tenant_id = 'small' AND state = 'pending'
     AND (coalesce(expires_at, 'infinity'::timestamptz), request_id) > (now(), 'apr_')
     ORDER BY coalesce(expires_at, 'infinity'::timestamptz), request_id LIMIT 50`,
    "pending_approvals_by_deadline",
  ],
  [
    "approvals that were granted, latest first",
    `SELECT request_id FROM approval_requests WHERE tenant_id = 'big' AND state = 'approved' AND state <> 'pending'
     ORDER BY decided_at DESC, request_id DESC LIMIT 50`,
    "decided_approvals_by_state",
  ],
  [
    "approvals that one agent was granted, latest first",
    `SELECT request_id FROM approval_requests WHERE tenant_id = 'big' AND state = 'approved' AND state <> 'pending'
     AND agent_id = 'agent_3' ORDER BY decided_at DESC, request_id DESC LIMIT 50`,
    "decided_approvals_by_agent",
  ],
  [
    "denials that somebody acknowledged",
    `SELECT denial_id FROM denials WHERE tenant_id = 'big' AND kind = 'denial' AND acknowledged_at IS NOT NULL
     ORDER BY denied_at DESC, denial_id DESC LIMIT 50`,
    "answered_denials_by_time",
  ],
  [
    "denials that nobody acknowledged",
    `SELECT denial_id FROM denials WHERE tenant_id = 'big' AND kind = 'denial' AND acknowledged_at IS NULL
     ORDER BY denied_at DESC, denial_id DESC LIMIT 50`,
    "open_denials_by_age",
  ],
  [
    "the audit of one verb",
    `SELECT sequence FROM audit_log WHERE tenant_id = 'big' AND verb = 'verb_3' AND actor_id = 'op_2'
     AND sequence < 30000 ORDER BY sequence DESC LIMIT 50`,
    "Index Only Scan using audit_by_",
  ],
  [
    "the audit of one person",
    `SELECT sequence FROM audit_log WHERE tenant_id = 'big' AND actor_id = 'op_2'
     AND sequence < 30000 ORDER BY sequence DESC LIMIT 50`,
    "Index Only Scan using audit_by_actor",
  ],
  [
    "acts that were refused",
    `SELECT sequence FROM audit_log WHERE tenant_id = 'big' AND NOT accepted AND sequence < 30000
     ORDER BY sequence DESC LIMIT 50`,
    "Index Only Scan using refused_acts",
  ],
  [
    "approvals whose time has passed",
    `SELECT request_id FROM approval_requests WHERE state = 'pending' AND expires_at <= now() ORDER BY expires_at LIMIT 50`,
    "expiring_approvals",
  ],
  [
    "decisions of a run that no record carries",
    `SELECT request_id FROM approval_requests WHERE tenant_id = 'big' AND run_id = 'run_77'
     AND decided_at IS NOT NULL AND delivered_at IS NULL AND state <> 'withdrawn'`,
    "undelivered_decisions",
  ],
  [
    "submissions that are ready",
    `SELECT submission_id FROM submissions WHERE state = 'ready' AND due_at <= now() ORDER BY due_at LIMIT 50`,
    "ready_submissions",
  ],
  [
    "a tenant's events after a cursor",
    `SELECT sequence FROM events WHERE tenant_id = 'big' AND sequence > 30000 ORDER BY sequence LIMIT 100`,
    "events_pkey",
  ],
  [
    "one run's events after a cursor",
    `SELECT sequence FROM events WHERE tenant_id = 'big' AND run_id = 'run_77' AND sequence > 5 ORDER BY sequence LIMIT 100`,
    "events_by_run",
  ],
];

layer(store, { excludeTestServices: true, timeout: "120 seconds" })(
  "hot queries on Postgres",
  (it) => {
    it.effect("[OP-07][A-07][PG-04] every list and scan is one ordered walk of its own index", () =>
      Effect.gen(function* () {
        yield* seed;
        for (const [claim, statement, index] of hot)
          for (const plan of [yield* explain(statement), yield* explainBound(statement)]) {
            assert.include(plan, index, `${claim}:\n${plan}`);
            assert.notInclude(plan, "Seq Scan", `${claim}:\n${plan}`);
            assert.notInclude(plan, "Sort", `${claim}:\n${plan}`);
          }
        // Rare words are found without looking at every title, and spans without looking at every row.
        const rowsRead = Effect.map(
          rows(`SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int AS read
            FROM pg_stat_xact_user_tables WHERE relname IN ('run_titles', 'approval_requests', 'unknown_outcomes')`),
          ([found]) => Number(found?.["read"]),
        );
        const readsOf = (call: string) =>
          Database.transaction(
            "search",
            Effect.gen(function* () {
              yield* actForTenant(TenantId.make("big"));
              const before = yield* rowsRead;
              const found = yield* rows(`SELECT * FROM ${call}`);
              return { found: found.length, read: (yield* rowsRead) - before };
            }),
          );
        const nothing = { found: 0, read: 0 };
        assert.deepStrictEqual(yield* readsOf("titles_like('%needle%')"), nothing);
        yield* rows(
          "UPDATE run_titles SET title = 'a needle' WHERE run_id IN ('run_78', 'run_88')",
        );
        // The second is of the other tenant.
        assert.deepStrictEqual(yield* readsOf("titles_like('%needle%')"), { found: 1, read: 2 });
        const near = "timestamptz '2025-12-31', timestamptz '2026-01-01 00:00:01'";
        assert.deepStrictEqual(yield* readsOf(`approvals_open_near(${near})`), {
          found: 1,
          read: 1,
        });
        assert.deepStrictEqual(yield* readsOf(`unknowns_open_near(${near})`), nothing);
        const due = yield* explain("SELECT * FROM due_threads(100, interval '6 seconds')");
        const millis = /Execution Time: ([0-9.]+) ms/.exec(due)?.[1];
        assert.isBelow(Number(millis ?? Infinity), 500, "10,000 waiting runs of which none is due");
      }),
    );
  },
);
