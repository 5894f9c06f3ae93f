/** `Unknowns` on PostgreSQL: a resolution is one transaction on the locked row, joined to the caller's where there is one. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { AgentId, Digest, RunId, ThreadId, ToolCallId, UnknownId } from "#lib/contract/ids.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { ResolutionKind, RunState } from "#lib/contract/status.ts";
import { judgeResolution, type ResolutionVerdict } from "#lib/durable/judge-resolution.ts";
import { notFound } from "#lib/durable/not-found.ts";
import { columnText } from "#lib/durable/storable-text.ts";
import { type UnknownResolution, Unknowns } from "#lib/durable/Unknowns.ts";
import { announce } from "./announce.ts";
import { JsonText, Millis } from "./columns.ts";
import { transaction, transition } from "./Database.ts";

type Request<Method extends keyof Unknowns["Service"]> = Parameters<Unknowns["Service"][Method]>[0];

const Row = Schema.Struct({
  unknownId: UnknownId,
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
  result: Schema.NullOr(JsonText(Schema.Json)),
  resultIsFailure: Schema.NullOr(Schema.Boolean),
  resolverId: Schema.NullOr(Schema.String),
  resolverName: Schema.NullOr(Schema.String),
  resolvedAt: Schema.NullOr(Millis),
});

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const withSql = Effect.provideService(SqlClient.SqlClient, sql);

  const columns = sql`
    u.unknown_id AS "unknownId", u.run_id AS "runId", u.thread_id AS "threadId",
    u.agent_id AS "agentId", u.turn, u.call_id AS "callId", u.tool_name AS "toolName", u.state,
    u.after_settlement AS "afterSettlement", r.state AS "runState",
    coalesce(u.parameters_digest, t.parameters_digest, repeat('0', 64)) AS "parametersDigest",
    u.resolution, u.result, u.result_is_failure AS "resultIsFailure",
    u.resolver_id AS "resolverId", u.resolver_name AS "resolverName", u.resolved_at AS "resolvedAt"
    FROM unknown_outcomes u
    JOIN runs r ON r.tenant_id = u.tenant_id AND r.run_id = u.run_id
    LEFT JOIN tool_calls t ON t.tenant_id = u.tenant_id AND t.run_id = u.run_id
      AND t.turn = u.turn AND t.call_id = u.call_id`;
  const selectOne = (lock: boolean) =>
    SqlSchema.findOneOption({
      Request: Schema.Struct({ tenantId: Schema.String, unknownId: Schema.String }),
      Result: Row,
      execute: ({ tenantId, unknownId }) => sql`
        SELECT ${columns} WHERE u.tenant_id = ${tenantId} AND u.unknown_id = ${unknownId}
        ${lock ? sql`FOR UPDATE OF u` : sql``}`,
    });
  const lockRow = selectOne(true);
  const findRow = selectOne(false);
  const rowsOfRun = SqlSchema.findAll({
    Request: Schema.Struct({ tenantId: Schema.String, runId: Schema.String }),
    Result: Row,
    execute: ({ tenantId, runId }) => sql`
      SELECT ${columns} WHERE u.tenant_id = ${tenantId} AND u.run_id = ${runId}
      ORDER BY u.turn, u.unknown_sequence, u.unknown_id LIMIT 1000`,
  });

  const write = Effect.fnUntraced(function* (
    request: UnknownResolution,
    verdict: Extract<ResolutionVerdict, { readonly kind: "resolve" }>,
  ) {
    const { actor } = request;
    const completes = verdict.result !== undefined;
    const written = yield* sql`
      UPDATE unknown_outcomes SET state = 'resolved', resolution = ${request.resolution},
        result = ${verdict.result === undefined ? null : canonicalJson(verdict.result)},
        result_is_failure = ${completes ? verdict.isFailure : null}, resolver_kind = ${actor.kind},
        resolver_id = ${actor.id}, resolver_name = ${actor.name},
        resolution_reason = ${columnText(request.reason)}, evidence = ${columnText(request.evidence)},
        resolution_command_id = ${request.commandId},
        resolved_at = date_trunc('milliseconds', clock_timestamp())
      WHERE tenant_id = ${request.tenantId} AND unknown_id = ${request.unknownId} AND state = 'open'
      RETURNING unknown_id`;
    if (written.length !== 1) return yield* Effect.die("A locked open unknown was not there");
  });

  const resolveLocked = Effect.fnUntraced(function* (request: UnknownResolution) {
    const before = yield* Effect.flatMap(
      lockRow(request),
      Effect.fromOption(() => notFound("effect in doubt")),
    );
    const verdict = yield* Effect.fromResult(judgeResolution(before, request, request.actor.id));
    if (verdict.kind === "same") return { before, verdict };
    yield* write(request, verdict);
    yield* announce(
      { ...before, tenantId: request.tenantId },
      {
        _tag: "UnknownResolved",
        turn: before.turn,
        callId: before.callId,
        toolName: before.toolName,
        unknownId: request.unknownId,
        resolution: request.resolution,
        actor: request.actor,
      },
    );
    return { before, verdict };
  });

  return Unknowns.of({
    find: Effect.fn("Unknowns.find")((request: Request<"find">) =>
      transition("Unknowns.find", findRow(request)),
    ),
    ofRun: Effect.fn("Unknowns.ofRun")((request: Request<"ofRun">) =>
      transition("Unknowns.ofRun", rowsOfRun(request)),
    ),
    resolve: Effect.fn("Unknowns.resolve")((request: UnknownResolution) =>
      withSql(transaction("Unknowns.resolve", resolveLocked(request))),
    ),
  });
});

/** `Unknowns` on the pool's database. */
export const layer = Layer.effect(Unknowns, make);
