/** What destinations answered about one effect in doubt, and how far its handler is known to have come. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { AgentId, TenantId, UnknownId } from "#lib/contract/ids.ts";
import { Actor } from "#lib/contract/records.ts";
import { ProbeView } from "#lib/contract/unknown-views.ts";
import type { ProbeRule } from "#lib/tool-probe.ts";
import { ToolProbes } from "#server/operator/ToolProbes.ts";
import { millis } from "./columns.ts";
import { decodeRows } from "./snapshot.ts";

/** Questions kept and shown of one effect. */
export const maxProbes = 20;

const ProbeRow = Schema.Struct({
  ...ProbeView.fields,
  actor: Schema.fromJsonString(Actor),
  result: Schema.NullOr(Schema.fromJsonString(Schema.Json)),
});

/** A question without an answer for so long was asked by a process that is gone. */
export const lostAfterSeconds = 60;
export const lostProbe = "The process that asked was lost before it stored an answer.";

export const readProbes = (tenantId: TenantId, unknownId: UnknownId) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(ProbeRow)(sql`
      SELECT probe_id AS "probeId",
        json_build_object('kind', asker_kind, 'id', asker_id, 'name', asker_name)::text AS actor,
        ${sql.literal(millis("asked_at"))} AS "askedAt", settles,
        ${sql.literal(millis("answered_at"))} AS "answeredAt",
        CASE WHEN is_lost THEN 'failed' ELSE finding END AS finding,
        CASE WHEN is_lost THEN ${lostProbe} ELSE detail END AS detail, result,
        result_is_failure AS "isFailure"
      FROM unknown_probes p CROSS JOIN LATERAL (SELECT p.answered_at IS NULL AND p.asked_at
        < clock_timestamp() - ${lostAfterSeconds} * interval '1 second' AS is_lost) AS fate
      WHERE p.tenant_id = ${tenantId} AND p.unknown_id = ${unknownId}
      ORDER BY p.asked_at DESC, probe_id LIMIT ${maxProbes}`),
  );

const Progressed = Schema.Struct({ progressed: Schema.Boolean });

/** Whether the call's handler reported progress since it was last prepared; progress is an event, no record. */
export const readProgressed = (
  tenantId: TenantId,
  call: { readonly runId: string; readonly turn: number; readonly callId: string },
) =>
  Effect.flatMap(SqlClient, (sql) =>
    decodeRows(Progressed)(sql`
      SELECT EXISTS (
        SELECT FROM events e
        WHERE e.tenant_id = ${tenantId} AND e.run_id = ${call.runId} AND e.kind = 'ToolProgress'
          AND e.body::json ->> 'callId' = ${call.callId}
          AND (e.body::json ->> 'turn')::int = ${call.turn}
          AND e.at >= (SELECT t.started_at FROM tool_calls t WHERE t.tenant_id = ${tenantId}
            AND t.run_id = ${call.runId} AND t.turn = ${call.turn} AND t.call_id = ${call.callId})
      ) AS progressed`),
  ).pipe(Effect.map(([row]) => row?.progressed ?? false));

const taken: Record<NonNullable<ProbeRule["notFound"]>, string> = {
  "never-happened": "that it never happened",
  "safe-to-retry": "that it is safe to run again",
};

/** A probe's declared rule in plain words; null for a tool without a probe. */
export const probeRuleOf = (tool: { readonly agentId: AgentId; readonly toolName: string }) =>
  Effect.map(ToolProbes, (probes) =>
    Option.match(probes.ruleOf(tool), {
      onNone: () => null,
      onSome: ({ found, notFound }) => {
        const parts = [
          ...(found === undefined ? [] : ["a result that it finds settles the call"]),
          ...(notFound === undefined ? [] : [`finding nothing means ${taken[notFound]}`]),
        ];
        return parts.length === 0
          ? "The answer is evidence only; a person settles the call."
          : `By the tool's rule, ${parts.join(", and ")}.`;
      },
    }),
  );
