/** A person says what became of an effect in doubt, with reason and evidence (DU-07, C102). */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { SqlClient } from "effect/unstable/sql/SqlClient";
import type { ResolveUnknown } from "#lib/contract/commands.ts";
import {
  AgentId,
  Digest,
  EpochMillis,
  RunId,
  ThreadId,
  ToolCallId,
  type UnknownId,
} from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { ResolutionKind, RunState } from "#lib/contract/status.ts";
import { columnText } from "#server/postgres/columns.ts";
import { millis } from "#server/views/columns.ts";
import { notFound } from "#server/views/require-run.ts";
import { decodeRows } from "#server/views/snapshot.ts";
import { announce } from "./announce.ts";
import { boundedJson } from "./bounded-json.ts";
import { judgeResolution, type ResolutionVerdict } from "./judge-resolution.ts";
import {
  actorOf,
  type Change,
  type Operator,
  refuse,
  requireRole,
  runCommand,
} from "./run-command.ts";
import { ToolSchemas } from "./ToolSchemas.ts";

const Locked = Schema.Struct({
  runId: RunId,
  threadId: ThreadId,
  agentId: AgentId,
  turn: Schema.Int,
  callId: ToolCallId,
  toolName: Schema.String,
  state: Schema.Literals(["open", "resolved"]),
  afterSettlement: Schema.Boolean,
  runState: RunState,
  parametersDigest: Digest,
  resolution: Schema.NullOr(ResolutionKind),
  result: Schema.NullOr(Schema.fromJsonString(Schema.Json)),
  resultIsFailure: Schema.NullOr(Schema.Boolean),
  resolverId: Schema.NullOr(Schema.String),
  resolverName: Schema.NullOr(Schema.String),
  resolvedAt: Schema.NullOr(EpochMillis),
});

const lockUnknown = (operator: Operator, unknownId: UnknownId) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const rows = yield* decodeRows(Locked)(sql`
      SELECT u.run_id AS "runId", u.thread_id AS "threadId", u.agent_id AS "agentId", u.turn,
        u.call_id AS "callId", u.tool_name AS "toolName", u.state,
        u.after_settlement AS "afterSettlement", r.state AS "runState",
        coalesce(u.parameters_digest, t.parameters_digest, repeat('0', 64)) AS "parametersDigest",
        u.resolution, u.result, u.result_is_failure AS "resultIsFailure",
        u.resolver_id AS "resolverId", u.resolver_name AS "resolverName",
        ${sql.literal(millis("u.resolved_at"))} AS "resolvedAt"
      FROM unknown_outcomes u
      JOIN runs r ON r.tenant_id = u.tenant_id AND r.run_id = u.run_id
      LEFT JOIN tool_calls t ON t.tenant_id = u.tenant_id AND t.run_id = u.run_id
        AND t.turn = u.turn AND t.call_id = u.call_id
      WHERE u.tenant_id = ${operator.tenantId} AND u.unknown_id = ${unknownId} FOR UPDATE OF u`);
    return rows[0] ?? (yield* notFound("effect in doubt"));
  });

const writeResolution = (
  operator: Operator,
  unknownId: UnknownId,
  command: ResolveUnknown,
  verdict: Extract<ResolutionVerdict, { readonly kind: "resolve" }>,
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient;
    const actor = actorOf(operator);
    const completes = verdict.result !== undefined;
    const written = yield* sql`
      UPDATE unknown_outcomes SET state = 'resolved', resolution = ${command.resolution},
        result = ${verdict.result === undefined ? null : canonicalJson(verdict.result)},
        result_is_failure = ${completes ? verdict.isFailure : null}, resolver_kind = ${actor.kind},
        resolver_id = ${actor.id}, resolver_name = ${actor.name},
        resolution_reason = ${columnText(command.reason)}, evidence = ${columnText(command.evidence)},
        resolution_command_id = ${command.commandId},
        resolved_at = date_trunc('milliseconds', clock_timestamp())
      WHERE tenant_id = ${operator.tenantId} AND unknown_id = ${unknownId} AND state = 'open'
      RETURNING unknown_id`;
    if (written.length !== 1) return yield* Effect.die("A locked open unknown was not there");
  });

const change = (operator: Operator, unknownId: UnknownId, command: ResolveUnknown) =>
  Effect.gen(function* () {
    const row = yield* lockUnknown(operator, unknownId);
    const verdict = yield* Effect.fromResult(judgeResolution(row, command, operator.operatorId));
    const before = { state: row.state, resolution: row.resolution };
    const after = { state: "resolved", resolution: command.resolution };
    if (verdict.kind === "same") return { runId: row.runId, before, after } satisfies Change;
    if (verdict.result !== undefined)
      yield* (yield* ToolSchemas).validateResult({
        agentId: row.agentId,
        toolName: row.toolName,
        result: verdict.result,
        isFailure: verdict.isFailure,
      });
    yield* writeResolution(operator, unknownId, command, verdict);
    yield* announce(
      { ...row, tenantId: operator.tenantId },
      {
        _tag: "UnknownResolved",
        turn: row.turn,
        callId: row.callId,
        toolName: row.toolName,
        unknownId,
        resolution: command.resolution,
        actor: actorOf(operator),
      },
    );
    return {
      runId: row.runId,
      before,
      after: { ...after, evidence: columnText(command.evidence) },
      wake: { tenantId: operator.tenantId, threadId: row.threadId },
    } satisfies Change;
  });

/** Resolves once; the run goes on when every effect of its batch in doubt has a resolution. */
export const resolveUnknown = Effect.fn("operator.resolveUnknown")(function* (
  operator: Operator,
  unknownId: UnknownId,
  command: ResolveUnknown,
) {
  const { commandId, ...payload } = command;
  const about = { operator, act: "resolve-unknown", target: unknownId, commandId } as const;
  yield* requireRole(about);
  // Before anything is digested or stored: the result is whatever a client sent.
  if (command.result !== undefined)
    yield* boundedJson(command.result, { path: "body.result" }).pipe(
      Effect.catch((error) => refuse(about, error)),
    );
  yield* runCommand(
    { ...about, payload, reason: command.reason },
    change(operator, unknownId, command),
  );
});
