/** `Approvals` on PostgreSQL: every change is one transaction on the locked row, joined to the caller's where there is one. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SqlClient from "effect/unstable/sql/SqlClient";
import * as SqlSchema from "effect/unstable/sql/SqlSchema";
import { judgeApproval, refuseDecided, refuseExtension } from "#lib/approval/judge-approval.ts";
import { canonicalJson } from "#lib/contract/json/canonical-json.ts";
import { type ApprovalAnswer, Approvals } from "#lib/durable/Approvals.ts";
import { columnText } from "#lib/durable/storable-text.ts";
import { announce } from "./announce.ts";
import { makeApprovalRows } from "./approval-row.ts";
import { Millis } from "./columns.ts";
import { transaction, transition } from "./Database.ts";
import { makeExpireApprovals } from "./expire-approvals.ts";

type Request<Method extends keyof Approvals["Service"]> = Parameters<
  Approvals["Service"][Method]
>[0];

const Moved = Schema.Struct({ expiresAt: Millis });

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const rows = yield* makeApprovalRows;
  const expire = yield* makeExpireApprovals;
  const withSql = Effect.provideService(SqlClient.SqlClient, sql);

  const writeVote = (answer: ApprovalAnswer, reason: string) => sql`
    INSERT INTO approval_votes (tenant_id, request_id, operator_id, operator_name, decision, reason,
      parameters_digest, command_id)
    VALUES (${answer.tenantId}, ${answer.requestId}, ${answer.actor.id}, ${answer.actor.name},
      ${answer.decision}, ${reason}, ${answer.parametersDigest}, ${answer.commandId ?? ""})`;

  /** Conditional although the row is locked: the statement itself says what it may overwrite. */
  const writeDecision = Effect.fnUntraced(function* (answer: ApprovalAnswer, reason: string) {
    const decided = yield* sql`
      UPDATE approval_requests SET state = ${answer.decision}, decider_kind = ${answer.actor.kind},
        decider_id = ${answer.actor.id}, decider_name = ${answer.actor.name}, decision_reason = ${reason},
        decision_command_id = ${answer.commandId},
        suggestion = ${answer.suggestion === undefined ? null : canonicalJson(answer.suggestion)},
        decided_at = date_trunc('milliseconds', clock_timestamp())
      WHERE tenant_id = ${answer.tenantId} AND request_id = ${answer.requestId} AND state = 'pending'
        AND parameters_digest = ${answer.parametersDigest}
      RETURNING request_id`;
    if (decided.length !== 1) return yield* Effect.die("A locked pending approval was not there");
  });

  const decideLocked = Effect.fnUntraced(function* (answer: ApprovalAnswer) {
    const before = yield* rows.lock(answer);
    const verdict = yield* Effect.fromResult(judgeApproval(before, answer, answer.actor.id));
    const reason = columnText(answer.reason);
    if (before.approversRequired > 1) yield* writeVote(answer, reason);
    if (verdict.kind === "decide") yield* writeDecision(answer, reason);
    const about = {
      turn: before.turn,
      callId: before.callId,
      toolName: before.toolName,
      requestId: answer.requestId,
      actor: answer.actor,
    };
    yield* announce(
      { ...before, tenantId: answer.tenantId },
      verdict.kind === "decide"
        ? { _tag: "ApprovalDecided", ...about, decision: answer.decision, reason }
        : { _tag: "ApprovalCounted", ...about, missing: verdict.missing },
    );
    return { before, verdict };
  });

  const moveExpiry = SqlSchema.findOneOption({
    Request: Schema.Struct({
      tenantId: Schema.String,
      requestId: Schema.String,
      seconds: Schema.Int,
    }),
    Result: Moved,
    execute: ({ tenantId, requestId, seconds }) => sql`
      UPDATE approval_requests SET expires_at = date_trunc('milliseconds', clock_timestamp())
        + ${seconds}::int4 * interval '1 second'
      WHERE tenant_id = ${tenantId} AND request_id = ${requestId} AND state = 'pending'
      RETURNING expires_at AS "expiresAt"`,
  });

  const extendLocked = Effect.fnUntraced(function* (request: Request<"extend">) {
    const before = yield* rows.lock(request);
    const refusal = refuseDecided(before) ?? refuseExtension(before, request.seconds);
    if (refusal !== undefined) return yield* Effect.fail(refusal);
    const moved = yield* moveExpiry(request);
    if (Option.isNone(moved)) return yield* Effect.die("A locked pending approval was not there");
    const { expiresAt } = moved.value;
    yield* announce(
      { ...before, tenantId: request.tenantId },
      {
        _tag: "ApprovalExtended",
        turn: before.turn,
        callId: before.callId,
        toolName: before.toolName,
        requestId: request.requestId,
        expiresAt,
        actor: request.actor,
      },
    );
    return { before, expiresAt };
  });

  return Approvals.of({
    find: Effect.fn("Approvals.find")((request: Request<"find">) =>
      transition("Approvals.find", rows.find(request)),
    ),
    ofRun: Effect.fn("Approvals.ofRun")((request: Request<"ofRun">) =>
      transition("Approvals.ofRun", rows.ofRun(request)),
    ),
    decide: Effect.fn("Approvals.decide")((answer: ApprovalAnswer) =>
      withSql(transaction("Approvals.decide", decideLocked(answer))),
    ),
    extend: Effect.fn("Approvals.extend")((request: Request<"extend">) =>
      withSql(transaction("Approvals.extend", extendLocked(request))),
    ),
    expire: Effect.fn("Approvals.expire")((limit: number) =>
      withSql(transaction("Approvals.expire", expire(Math.min(Math.max(limit, 1), 1_000)))),
    ),
  });
});

/** `Approvals` on the pool's database. */
export const layer = Layer.effect(Approvals, make);
