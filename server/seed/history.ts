/**
 * Settled runs in bulk, written by PostgreSQL itself from `generate_series`: the rows that the console
 * lists and counts (`runs`, `run_tools`, `turns`, `tool_calls`, `approval_requests`, `unknown_outcomes`,
 * `denials`, `diagnostics`, threads and submissions), without journal records or events. A million
 * whole journals would be some 12 GB and half an hour; `journaled-runs.ts` writes some that are whole.
 *
 * Everything follows from the run's number, so a batch that is made again makes the same rows.
 */
import * as Effect from "effect/Effect";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { transaction } from "#server/postgres/Database.ts";

/** Two runs share a thread, so a batch must begin at an odd number and hold an even count. */
export const runsPerThread = 2;

/** A number from 0 to below 1 that follows from `n` and the salt. */
const random = (salt: number): string =>
  `((hashint8extended(n, ${salt}) & 9007199254740991) / 9007199254740992.0)`;
const pick = (values: ReadonlyArray<string>, salt: number): string =>
  `(ARRAY[${values.map((value) => `'${value.replaceAll("'", "''")}'`).join(",")}])[1 + floor(${random(salt)} * ${values.length})::int]`;
const id = (prefix: string, of: string): string => `'${prefix}_' || md5('${prefix}' || ${of})`;

const askedFor = [
  "Refund for order",
  "Where is order",
  "Cancel order",
  "Wrong size in order",
  "Exchange the item of order",
  "Change the address of order",
  "Charged twice for order",
  "Damaged parcel, order",
  "Invoice for order",
  "Return label for order",
];
const remarks = [
  "",
  ", customer is waiting",
  ", second request",
  ", gift card",
  " (urgent)",
  ", reported by the carrier",
  ", see the note of last week",
];
const people = ["Ana", "Bo", "Chidi", "Dana", "Emre", "Fatou", "Goran", "Hana"];

/** Skewed as in life: the first agent has most runs, the last ones few. */
const agents = `(ARRAY['retail-desk','billing-desk','returns-desk','shipping-desk','fraud-review','supplier-desk',
  'night-audit','pilot-desk'])[1 + floor(8 * power(${random(2)}, 2.6))::int]`;
const failureTags = `(ARRAY['ModelFailed','ToolFailed','BudgetExhausted','RefusedByProvider','InvalidOutput',
  'ApprovalDenied','AuthorizationDenied','CorruptEvidence'])[1 + floor(8 * power(${random(6)}, 2))::int]`;

const drawn = `
CREATE TEMPORARY TABLE drawn ON COMMIT DROP AS
WITH numbered AS (SELECT n, (n + 1) / ${runsPerThread} AS thread FROM generate_series($1::bigint, $2::bigint) n),
told AS (
  SELECT n, thread,
    CASE WHEN hashint8extended(thread, 1) & 31 < 28 THEN 'default' WHEN hashint8extended(thread, 1) & 31 < 31 THEN 'north' ELSE 'quiet' END AS tenant_id,
    ${agents} AS agent_id,
    CASE WHEN ${random(3)} < 0.86 THEN 'completed' WHEN ${random(3)} < 0.96 THEN 'failed' ELSE 'aborted' END AS state,
    ${pick(askedFor, 4)} || ' #W' || lpad((hashint8extended(n, 5) & 9999999)::text, 7, '0') || ${pick(remarks, 7)} AS title,
    ${pick(people, 8)} AS requester,
    ${failureTags} AS tag,
    1 + floor(4 * power(${random(9)}, 2))::int AS turns,
    floor(5 * power(${random(10)}, 1.5))::int AS calls,
    date_trunc('milliseconds', $3::timestamptz + (n * $4::float8 + ${random(11)} * $4::float8) * interval '1 millisecond') AS created_at,
    (400 + 90000 * power(${random(12)}, 3))::int AS took
  FROM numbered)
SELECT *, ${id("run", "n")} AS run_id, ${id("thr", "thread")} AS thread_id, ${id("sub", "n")} AS submission_id,
  created_at + 40 * interval '1 millisecond' AS started_at, created_at + (40 + took) * interval '1 millisecond' AS settled_at
FROM told`;

const drawnCalls = `
CREATE TEMPORARY TABLE drawn_calls ON COMMIT DROP AS
SELECT d.*, c AS place, 1 + (c - 1) % d.turns AS turn, 'call_' || d.n || '_' || c AS call_id,
  (ARRAY['get_order_details','find_user_id_by_email','issue_refund','send_email','track_shipment','get_user_details',
    'cancel_pending_order','add_order_note','search_orders','quote_shipping','charge_payment_method','modify_user_address',
    'create_return_label','discover_tools','delete_customer'])[1 + floor(15 * power(((hashint8extended(d.n * 8 + c, 20) & 9007199254740991) / 9007199254740992.0), 2))::int] AS tool_name,
  (hashint8extended(d.n * 8 + c, 21) & 1023) AS fate,
  '{"amount":"' || (hashint8extended(d.n * 8 + c, 22) & 65535) || '.50","order_id":"#W' || lpad((hashint8extended(d.n, 5) & 9999999)::text, 7, '0') || '"}' AS parameters
FROM drawn d CROSS JOIN LATERAL generate_series(1, d.calls) c`;

/** Of 1,024 calls of a run that completed. */
const fateState = `CASE
  WHEN fate < 12 THEN 'denied-by-person' WHEN fate < 24 THEN 'denied-by-policy' WHEN fate < 30 THEN 'expired'
  WHEN fate < 70 THEN 'failed' WHEN fate < 76 THEN 'unknown'
  WHEN state = 'aborted' AND fate < 400 THEN 'aborted' WHEN state = 'failed' AND fate < 300 THEN 'not-executed'
  ELSE 'succeeded' END`;
const asked =
  "(tool_name IN ('issue_refund', 'charge_payment_method', 'cancel_pending_order', 'delete_customer') AND (fate & 3) = 1 OR fate < 12 OR fate BETWEEN 24 AND 29)";
const digest = "encode(sha256(convert_to(parameters, 'UTF8')), 'hex')";
const callKey = "n || '/' || place";

const statements: ReadonlyArray<string> = [
  `INSERT INTO threads (tenant_id, thread_id, agent_id, last_queue_sequence, created_at)
   SELECT tenant_id, thread_id, min(agent_id), count(*), min(created_at) FROM drawn GROUP BY tenant_id, thread_id`,
  `INSERT INTO submissions (tenant_id, submission_id, thread_id, run_id, agent_id, queue_sequence, state, due_at, title, input,
     requester_kind, requester_id, requester_name, claims, created_at, state_since, settled_at)
   SELECT tenant_id, submission_id, thread_id, run_id, agent_id, 1 + (n - 1) % ${runsPerThread}, 'settled', created_at, title,
     to_json(title)::text, 'operator', 'opr_' || lower(requester), requester, 1, created_at, settled_at, settled_at FROM drawn`,
  `INSERT INTO runs (tenant_id, run_id, thread_id, submission_id, agent_id, state, title, requester_id, requester_name, model_id,
     attempts, turns, tool_calls, input_tokens, output_tokens, failure_tag, failure_message, finish_reason, created_at, started_at, settled_at)
   SELECT tenant_id, run_id, thread_id, submission_id, agent_id, state, title, 'opr_' || lower(requester), requester, 'rehearsal',
     1, turns, calls, turns * (900 + took % 700), turns * (60 + took % 200),
     CASE WHEN state = 'failed' THEN tag END, CASE WHEN state = 'failed' THEN 'The run ended with ' || tag || '.' END,
     CASE state WHEN 'completed' THEN 'answered' WHEN 'aborted' THEN 'aborted' ELSE 'model-failure' END,
     created_at, started_at, settled_at FROM drawn`,
  `INSERT INTO run_tools (tenant_id, tool_name, created_at, run_id)
   SELECT DISTINCT tenant_id, tool_name, created_at, run_id FROM drawn_calls`,
  `INSERT INTO turns (tenant_id, run_id, turn, thread_id, record_sequence, call_count, finish_reason, input_tokens, output_tokens, started_at, recorded_at)
   SELECT d.tenant_id, d.run_id, t, d.thread_id, 1 + t, (SELECT count(*) FROM generate_series(1, d.calls) c WHERE 1 + (c - 1) % d.turns = t),
     CASE WHEN t < d.turns THEN 'tool-calls' ELSE 'stop' END, 900 + d.took % 700, 60 + d.took % 200,
     d.started_at + (t - 1) * (d.took / d.turns) * interval '1 millisecond', d.started_at + (t - 1) * (d.took / d.turns) * interval '1 millisecond' + interval '200 milliseconds'
   FROM drawn d CROSS JOIN LATERAL generate_series(1, d.turns) t`,
  `INSERT INTO tool_calls (tenant_id, run_id, turn, call_id, call_index, thread_id, tool_name, state, execution_class, provider_executed, needs_approval,
     parameters_digest, tool_digest, is_failure, failure_tag, failure_message, original_bytes, approval_request_id, unknown_id, denial_id, diagnostic_id,
     idempotency_key, attempt, declared_sequence, declared_at, requested_at, decided_at, started_at, ended_at)
   SELECT tenant_id, run_id, turn, call_id, place - 1, thread_id, tool_name, ${fateState},
     CASE WHEN tool_name IN ('issue_refund', 'charge_payment_method') THEN 'uncertain' WHEN tool_name LIKE 'get_%' OR tool_name LIKE 'find_%' OR tool_name LIKE 'search_%' THEN 'readonly' ELSE 'idempotent' END,
     false, ${asked}, ${digest}, md5(tool_name) || md5(tool_name || 'contract'), fate BETWEEN 30 AND 69,
     CASE WHEN fate BETWEEN 30 AND 69 THEN 'ToolFailed' END, CASE WHEN fate BETWEEN 30 AND 69 THEN 'The shop refused the request.' END,
     40 + fate, CASE WHEN ${asked} THEN ${id("apr", callKey)} END, CASE WHEN fate BETWEEN 70 AND 75 THEN ${id("unk", callKey)} END,
     CASE WHEN fate BETWEEN 12 AND 23 THEN ${id("den", callKey)} END, CASE WHEN fate BETWEEN 12 AND 69 THEN ${id("dia", callKey)} END,
     md5('key' || ${callKey}) || md5('yek' || ${callKey}), 1, 1 + turn, started_at, CASE WHEN ${asked} THEN started_at END,
     CASE WHEN ${asked} THEN started_at + interval '30 seconds' END, started_at, settled_at FROM drawn_calls`,
  `INSERT INTO approval_requests (tenant_id, request_id, thread_id, run_id, agent_id, turn, call_id, tool_name, summary, risk, denial_rule, requester,
     approvers_required, self_approval, parameters_digest, content, requested_sequence, requested_at, expires_at, state, decider_kind, decider_id,
     decider_name, decision_reason, decided_at, delivered_at)
   SELECT tenant_id, request_id, thread_id, run_id, agent_id, turn, call_id, tool_name, summary, risk, 'recoverable', requester, 1, true, ${digest},
     '{"agentId":' || to_json(agent_id) || ',"approversRequired":1,"callId":' || to_json(call_id) || ',"denial":"recoverable","effectiveParameters":' || parameters
       || ',"expiresAt":' || floor(extract(epoch FROM started_at) * 1000 + 3600000)::bigint || ',"parameters":' || parameters || ',"parametersDigest":"' || ${digest}
       || '","preview":' || parameters || ',"previewSource":"tool","requestId":' || to_json(request_id) || ',"requestedAt":' || floor(extract(epoch FROM started_at) * 1000)::bigint
       || ',"requester":' || to_json(requester) || ',"risk":' || to_json(risk) || ',"runId":' || to_json(run_id) || ',"selfApproval":true,"summary":' || to_json(summary)
       || ',"targets":[{"id":"#W' || lpad((hashint8extended(n, 5) & 9999999)::text, 7, '0') || '","kind":"order"}],"threadId":' || to_json(thread_id)
       || ',"toolName":' || to_json(tool_name) || ',"turnId":"' || run_id || ':' || turn || '","turnNumber":' || turn || '}',
     1 + turn, started_at, started_at + interval '1 hour', decision,
     CASE decision WHEN 'expired' THEN 'system' ELSE 'operator' END, CASE decision WHEN 'expired' THEN 'system' ELSE 'opr_dana' END,
     CASE decision WHEN 'expired' THEN 'system' ELSE 'Dana' END, CASE decision WHEN 'approved' THEN 'Looks right.' WHEN 'denied' THEN 'Not this amount.' ELSE 'Its time had passed.' END,
     started_at + interval '30 seconds', started_at + interval '31 seconds'
   FROM (SELECT *, ${id("apr", callKey)} AS request_id, 'Run ' || tool_name || ' for ' || title AS summary,
       CASE WHEN tool_name = 'charge_payment_method' THEN 'critical' WHEN tool_name LIKE '%refund%' THEN 'high' ELSE 'medium' END AS risk,
       CASE WHEN fate < 12 THEN 'denied' WHEN fate BETWEEN 24 AND 29 THEN 'expired' ELSE 'approved' END AS decision
     FROM drawn_calls WHERE ${asked}) a`,
  `INSERT INTO unknown_outcomes (tenant_id, unknown_id, thread_id, run_id, agent_id, turn, call_id, tool_name, reason, detail, after_settlement, execution_class,
     parameters_digest, attempt, unknown_sequence, prepared_at, unknown_at, state, resolution, resolver_kind, resolver_id, resolver_name, resolution_reason, evidence, resolved_at, delivered_at)
   SELECT tenant_id, ${id("unk", callKey)}, thread_id, run_id, agent_id, turn, call_id, tool_name, 'process-lost', 'The process that had prepared this call was lost.',
     false, 'uncertain', ${digest}, 1, 2 + turn, started_at, started_at + interval '5 seconds', 'resolved', 'never-happened', 'operator', 'opr_dana', 'Dana',
     'Not in the ledger.', 'provider ledger, page 2', settled_at, settled_at FROM drawn_calls WHERE fate BETWEEN 70 AND 75`,
  `INSERT INTO denials (tenant_id, denial_id, kind, thread_id, run_id, agent_id, turn, call_id, tool_name, reason, diagnostic_id, denied_sequence, denied_at,
     acknowledged_at, acknowledger_id, acknowledger_name, note)
   SELECT tenant_id, ${id("den", callKey)}, CASE WHEN fate < 22 THEN 'denial' ELSE 'check-error' END, thread_id, run_id, agent_id, turn, call_id, tool_name,
     CASE WHEN fate < 22 THEN 'This desk may not act on other customers'' orders.' ELSE 'The policy service did not answer.' END, ${id("dia", callKey)}, 2 + turn, started_at,
     CASE WHEN n % 50 > 0 THEN settled_at END, CASE WHEN n % 50 > 0 THEN 'opr_dana' END, CASE WHEN n % 50 > 0 THEN 'Dana' END, CASE WHEN n % 50 > 0 THEN 'As it should be.' END
   FROM drawn_calls WHERE fate BETWEEN 12 AND 23`,
  `INSERT INTO diagnostics (tenant_id, diagnostic_id, fingerprint, title, run_id, tool_name, call_id, captured_at, body)
   SELECT tenant_id, ${id("dia", callKey)}, md5(tool_name || kind) || md5(kind || tool_name), kind || ': ' || tool_name, run_id, tool_name, call_id, started_at,
     '{"_tag":"FailureDiagnostic","root":{"_tag":"Failure","message":"The shop refused the request.","name":"' || kind || '","tag":"' || kind || '"},"version":1}'
   FROM (SELECT *, CASE WHEN fate < 22 THEN 'AuthorizationDenied' WHEN fate < 24 THEN 'AuthorizationCheckFailed' ELSE (ARRAY['ToolFailed', 'ShopRefused', 'ProviderTimeout'])[1 + fate % 3] END AS kind
     FROM drawn_calls WHERE fate BETWEEN 12 AND 69) f`,
];

export interface HistoryBatch {
  /** Numbers of the runs, from 1; `from` odd, both included. */
  readonly from: number;
  readonly to: number;
  /** When run 1 was created, and how far apart the runs are, milliseconds. */
  readonly since: Date;
  readonly stepMillis: number;
}

/** One batch in one transaction: all of its rows or none. */
export const writeHistory = Effect.fn("seed.writeHistory")(function* (batch: HistoryBatch) {
  const sql = yield* SqlClient;
  return yield* transaction(
    "seed.writeHistory",
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`;
      yield* sql`SET LOCAL synchronous_commit = off`;
      yield* sql.unsafe(drawn, [batch.from, batch.to, batch.since, batch.stepMillis]);
      yield* sql.unsafe(drawnCalls);
      for (const statement of statements) yield* sql.unsafe(statement);
    }),
  );
});
