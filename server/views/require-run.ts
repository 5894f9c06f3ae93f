import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import { AgentId, Digest, type RunId, type TenantId, ThreadId } from "#lib/contract/ids.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { decodeRows } from "./snapshot.ts";

export { notFound };

const Row = Schema.Struct({
  threadId: ThreadId,
  agentId: AgentId,
  /** Of the agent, as the run was opened with it; null before. */
  definitionDigest: Schema.NullOr(Digest),
});

/** Where the run is, or `NotFound`. */
export const requireRun = (tenantId: TenantId, runId: RunId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(Row)(sql`
      SELECT thread_id AS "threadId", agent_id AS "agentId",
        definition_digest AS "definitionDigest" FROM runs
      WHERE tenant_id = ${tenantId} AND run_id = ${runId}`);
    return rows[0] ?? (yield* notFound("run"));
  });
