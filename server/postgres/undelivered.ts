/**
 * What people and the clock wrote for a run and no record carries yet, as the
 * records that will deliver it: decisions, resolutions, an abort.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { RunRecord } from "#lib/contract/records.ts";
import { JsonText } from "#server/postgres/columns.ts";

/** `extra` is what only some decisions say: an absent field is left out of a record, never null. */
const decided = (extra: string): string => `json_build_object(
  '_tag', 'ApprovalDecided', 'runId', a.run_id, 'turn', a.turn, 'callId', a.call_id,
  'toolName', a.tool_name, 'requestId', a.request_id, 'decision', a.state,
  'actor', json_build_object('kind', a.decider_kind, 'id', a.decider_id, 'name', a.decider_name),
  'reason', coalesce(a.decision_reason, ''), 'parametersDigest', a.parameters_digest,
  'decidedAt', floor(extract(epoch FROM a.decided_at) * 1000)::bigint${extra})`;

/** Everybody who approved, the last answer included, where more than one person must. */
const approvers = `(
  SELECT json_agg(json_build_object('kind', 'operator', 'id', v.operator_id, 'name', v.operator_name)
    ORDER BY v.voted_at, v.operator_id)
  FROM approval_votes v
  WHERE v.tenant_id = a.tenant_id AND v.request_id = a.request_id AND v.decision = 'approved'
    AND v.parameters_digest = a.parameters_digest)`;

const decisionRecord = `CASE
  WHEN a.suggestion IS NOT NULL THEN ${decided(", 'suggestion', a.suggestion::json")}
  WHEN a.state = 'approved' AND a.approvers_required > 1 THEN ${decided(`, 'approvers', ${approvers}`)}
  ELSE ${decided("")} END`;

const Row = Schema.Struct({ record: JsonText(RunRecord) });

/** Reads in the caller's transaction when there is one. */
export const makeReadUndelivered = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const find = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, runId: Schema.String }),
    Result: Row,
    // `result` and `suggestion` are spliced in as the JSON they are: json, unlike jsonb, keeps them to the byte.
    // Optional fields are left out, not null: that is what a record says.
    execute: ({ tenantId, runId }) => sql`
      SELECT record::text AS record FROM (
        SELECT 1 AS kind, a.decided_at AS at, a.request_id AS id, ${sql.literal(decisionRecord)} AS record
        FROM approval_requests a
        WHERE a.tenant_id = ${tenantId} AND a.run_id = ${runId}
          AND a.decided_at IS NOT NULL AND a.delivered_at IS NULL AND a.state <> 'withdrawn'
        UNION ALL
        SELECT 2, u.resolved_at, u.unknown_id, CASE WHEN u.result IS NULL THEN json_build_object(
          '_tag', 'UnknownResolved', 'runId', u.run_id, 'turn', u.turn, 'callId', u.call_id,
          'toolName', u.tool_name, 'unknownId', u.unknown_id, 'resolution', u.resolution,
          'actor', json_build_object('kind', u.resolver_kind, 'id', u.resolver_id, 'name', u.resolver_name),
          'reason', u.resolution_reason, 'evidence', u.evidence,
          'resolvedAt', floor(extract(epoch FROM u.resolved_at) * 1000)::bigint)
        ELSE json_build_object(
          '_tag', 'UnknownResolved', 'runId', u.run_id, 'turn', u.turn, 'callId', u.call_id,
          'toolName', u.tool_name, 'unknownId', u.unknown_id, 'resolution', u.resolution,
          'result', u.result::json, 'isFailure', coalesce(u.result_is_failure, false),
          'actor', json_build_object('kind', u.resolver_kind, 'id', u.resolver_id, 'name', u.resolver_name),
          'reason', u.resolution_reason, 'evidence', u.evidence,
          'resolvedAt', floor(extract(epoch FROM u.resolved_at) * 1000)::bigint)
        END
        FROM unknown_outcomes u
        WHERE u.tenant_id = ${tenantId} AND u.run_id = ${runId}
          AND u.state = 'resolved' AND u.delivered_at IS NULL AND NOT u.after_settlement
        UNION ALL
        SELECT 3, b.requested_at, b.run_id, json_build_object(
          '_tag', 'AbortRequested', 'runId', b.run_id,
          'actor', json_build_object('kind', b.actor_kind, 'id', b.actor_id, 'name', b.actor_name),
          'reason', b.reason, 'requestedAt', floor(extract(epoch FROM b.requested_at) * 1000)::bigint)
        FROM abort_requests b
        WHERE b.tenant_id = ${tenantId} AND b.run_id = ${runId} AND b.delivered_at IS NULL
      ) AS undelivered ORDER BY kind, at, id`,
  });
  return (request: { readonly tenantId: string; readonly runId: string }) =>
    Effect.map(find(request), (rows) => rows.map((row) => row.record));
});
