import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { AgentId, type RunId, type TenantId, ThreadId } from "#lib/contract/ids.ts";
import { Actor } from "#lib/contract/records.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { decodeRows } from "#server/views/snapshot.ts";

const Row = Schema.Struct({
  threadId: ThreadId,
  agentId: AgentId,
  requester: Schema.fromJsonString(Actor),
  input: Schema.fromJsonString(Schema.Json),
  title: Schema.String,
  unknownPolicy: Schema.Literals(["park", "block"]),
});

/**
 * A run's submission, locked so that no claim and no settlement slips in before the
 * caller's transaction ends: the thread first, as every writer does.
 */
export const lockSubmission = (tenantId: TenantId, runId: RunId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    yield* sql`
      SELECT FROM threads WHERE tenant_id = ${tenantId} AND thread_id = (
        SELECT thread_id FROM submissions WHERE tenant_id = ${tenantId} AND run_id = ${runId})
      FOR UPDATE`;
    const rows = yield* decodeRows(Row)(sql`
      SELECT thread_id AS "threadId", agent_id AS "agentId", input, title,
        unknown_policy AS "unknownPolicy",
        json_build_object('kind', requester_kind, 'id', requester_id, 'name', requester_name)::text
          AS requester
      FROM submissions WHERE tenant_id = ${tenantId} AND run_id = ${runId} FOR UPDATE`);
    return rows[0] ?? (yield* notFound("run"));
  });
