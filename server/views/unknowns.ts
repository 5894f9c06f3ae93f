/** Effects in doubt: the list, and one with everything needed to settle it (OP-08). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { RunId, TenantId, UnknownId } from "#lib/contract/ids.ts";
import { Digest } from "#lib/contract/ids.ts";
import { Actor, RunRecord } from "#lib/contract/records.ts";
import { ExecutionClass, ResolutionKind } from "#lib/contract/status.ts";
import { type UnknownDetail, UnknownListItem } from "#lib/contract/unknown-views.ts";
import { ToolSchemas } from "#server/operator/ToolSchemas.ts";
import { millis } from "./columns.ts";
import { effectStages } from "./effect-stages.ts";
import { cursorForms, decodeCursor } from "./cursor.ts";
import { readPage } from "./page.ts";
import { notFound } from "./require-run.ts";
import { decodeRows, inSnapshot, newest } from "./snapshot.ts";
import { probeRuleOf, readProbes, readProgressed } from "./unknown-probes.ts";

export const unknownListColumns = `
  u.unknown_id AS "unknownId", u.run_id AS "runId", u.agent_id AS "agentId",
  u.thread_id AS "threadId", r.title AS "runTitle", u.turn, u.call_id AS "callId",
  u.tool_name AS "toolName", u.reason, u.state, u.after_settlement AS "afterSettlement",
  ${millis("coalesce(u.prepared_at, u.unknown_at)")} AS "preparedAt",
  ${millis("u.unknown_at")} AS "unknownAt", ${millis("u.resolved_at")} AS "resolvedAt",
  u.resolver_name AS "resolvedBy"`;

const source = `FROM unknown_outcomes u JOIN runs r ON r.tenant_id = u.tenant_id AND r.run_id = u.run_id`;

const ListRow = Schema.Struct({ ...UnknownListItem.fields, cursorAt: Schema.String });

/** Open ones oldest first, resolved ones latest first. */
export const listUnknowns = Effect.fn("views.listUnknowns")(function* (
  tenantId: TenantId,
  query: {
    readonly state?: "open" | "resolved";
    readonly runId?: RunId;
    readonly cursor?: string;
    readonly limit?: number;
  },
) {
  const sql = yield* SqlClient;
  const state = query.state ?? "open";
  const [time, order, beyond] =
    state === "open" ? ["u.unknown_at", "ASC", ">"] : ["u.resolved_at", "DESC", "<"];
  const cursor = yield* decodeCursor(query.cursor, [cursorForms.time, cursorForms.id]);
  const where = [sql`u.tenant_id = ${tenantId}`, sql.literal(`u.state = '${state}'`)];
  if (query.runId !== undefined) where.push(sql`u.run_id = ${query.runId}`);
  const matching = sql`FROM unknown_outcomes u WHERE ${sql.and(where)}`;
  const after =
    cursor === undefined
      ? sql``
      : sql`AND ${sql.literal(`(${time}, u.unknown_id) ${beyond}`)} (${cursor[0]}::timestamptz, ${cursor[1]})`;
  return yield* inSnapshot(
    tenantId,
    readPage({
      tenantId,
      limit: query.limit,
      schema: ListRow,
      rows: (limit) => sql`
        SELECT ${sql.literal(unknownListColumns)}, ${sql.literal(`${time}::text`)} AS "cursorAt"
        FROM (SELECT u.* ${matching} ${after}
          ORDER BY ${sql.literal(`${time} ${order}, u.unknown_id ${order}`)} LIMIT ${limit}) AS u
        JOIN runs r ON r.tenant_id = u.tenant_id AND r.run_id = u.run_id
        ORDER BY ${sql.literal(`${time} ${order}, u.unknown_id ${order}`)}`,
      matching,
      cursorOf: (row) => [row.cursorAt, row.unknownId],
    }),
  );
});

const DetailRow = Schema.Struct({
  ...UnknownListItem.fields,
  parametersDigest: Digest,
  idempotencyKey: Schema.String,
  attempt: Schema.Int,
  executionClass: ExecutionClass,
  detail: Schema.String,
  kind: Schema.NullOr(ResolutionKind),
  result: Schema.NullOr(Schema.fromJsonString(Schema.Json)),
  resolverKind: Schema.NullOr(Actor.fields.kind),
  resolverId: Schema.NullOr(Schema.String),
  resolutionReason: Schema.NullOr(Schema.String),
  evidence: Schema.NullOr(Schema.String),
  /** The record that declared the call and holds its arguments. */
  declared: Schema.NullOr(Schema.fromJsonString(RunRecord)),
});
type DetailRow = typeof DetailRow.Type;

const readRow = (tenantId: TenantId, unknownId: UnknownId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(DetailRow)(sql`
      SELECT ${sql.literal(unknownListColumns)},
        coalesce(u.parameters_digest, t.parameters_digest, repeat('0', 64)) AS "parametersDigest",
        coalesce(u.idempotency_key, t.idempotency_key, '') AS "idempotencyKey",
        coalesce(u.attempt, t.attempt, 0) AS attempt,
        coalesce(u.execution_class, t.execution_class, 'uncertain') AS "executionClass",
        u.detail, u.resolution AS kind, u.result, u.resolver_kind AS "resolverKind",
        u.resolver_id AS "resolverId", u.resolution_reason AS "resolutionReason", u.evidence,
        j.body AS declared
      ${sql.literal(source)}
      LEFT JOIN tool_calls t ON t.tenant_id = u.tenant_id AND t.run_id = u.run_id
        AND t.turn = u.turn AND t.call_id = u.call_id
      LEFT JOIN journal_records j ON j.tenant_id = u.tenant_id AND j.thread_id = u.thread_id
        AND j.sequence = coalesce(u.declared_sequence, t.declared_sequence)
      WHERE u.tenant_id = ${tenantId} AND u.unknown_id = ${unknownId}`);
    return rows[0] ?? (yield* notFound("effect in doubt"));
  });

/** The arguments the handler was started with. */
const parametersOf = (row: DetailRow): UnknownDetail["parameters"] => {
  const calls =
    row.declared?._tag === "TurnRecorded"
      ? row.declared.calls
      : row.declared?._tag === "InnerCallDeclared"
        ? [row.declared.declared]
        : [];
  const call = calls.find((candidate) => candidate.callId === row.callId);
  return call?.effectiveParameters ?? call?.parameters ?? null;
};

const resolutionOf = (row: DetailRow): UnknownDetail["resolution"] =>
  row.kind === null || row.resolverKind === null
    ? null
    : {
        kind: row.kind,
        actor: {
          kind: row.resolverKind,
          id: row.resolverId ?? "",
          name: row.resolvedBy ?? "",
        },
        reason: row.resolutionReason ?? "",
        evidence: row.evidence ?? "",
        result: row.result,
      };

export const readUnknownDetail = Effect.fn("views.readUnknownDetail")(function* (
  tenantId: TenantId,
  unknownId: UnknownId,
) {
  const { row, serverTime, probes, progressed } = yield* inSnapshot(
    tenantId,
    Effect.gen(function* () {
      const found = yield* readRow(tenantId, unknownId);
      const { now } = yield* newest(tenantId);
      return {
        row: found,
        serverTime: now,
        probes: yield* readProbes(tenantId, unknownId),
        progressed: yield* readProgressed(tenantId, found),
      };
    }),
  );
  const schemas = yield* (yield* ToolSchemas).resultSchemas(row);
  const view: UnknownDetail = {
    ...row,
    parameters: parametersOf(row),
    stages: effectStages({ reason: row.reason, progressed, probes }),
    probeRule: yield* probeRuleOf(row),
    probes,
    resultSchema: schemas.success,
    failureSchema: schemas.failure,
    resolution: resolutionOf(row),
    serverTime,
  };
  return view;
});
