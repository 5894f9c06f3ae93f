/** `Approvals` and `Unknowns` in memory: the same judgements as on a database, one synchronous step each. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { judgeApproval, refuseDecided, refuseExtension } from "#lib/approval/judge-approval.ts";
import type { TenantId, ThreadId } from "#lib/contract/ids.ts";
import type { Actor } from "#lib/contract/records.ts";
import { type ApprovalAnswer, Approvals, type StoredApproval } from "../Approvals.ts";
import { judgeResolution } from "../judge-resolution.ts";
import { notFound } from "../not-found.ts";
import type { StoreError } from "../StoreError.ts";
import { columnText } from "../storable-text.ts";
import { type StoredUnknown, type UnknownResolution, Unknowns } from "../Unknowns.ts";
import { appendAudit } from "./audit.ts";
import {
  keyOf,
  logEvents,
  type MemoryApproval,
  MemoryStore,
  type MemoryTables,
  type MemoryUnknown,
} from "./MemoryStore.ts";
import { approvalsOf, unknownsOf } from "./project.ts";

const clock: Actor = { kind: "system", id: "clock", name: "the clock" };

const approvalOf = (row: MemoryApproval, now: number): StoredApproval => {
  const { tenantId: _, decider: _d, reason: _r, suggestion: _s, voters: _v, ...rest } = row;
  return { ...rest, approvedBy: [...row.approvedBy], now };
};

const callOf = (row: MemoryApproval | MemoryUnknown) => ({
  turn: row.turn,
  callId: row.callId,
  toolName: row.toolName,
});

const settleApproval = (
  tables: MemoryTables,
  row: MemoryApproval,
  decision: "approved" | "denied" | "expired",
  actor: Actor,
  reason: string,
  now: number,
): void => {
  row.state = decision;
  row.decider = actor;
  row.decidedBy = actor.name;
  row.decidedAt = now;
  row.reason = reason;
  const { requestId } = row;
  logEvents(tables, row, [
    {
      event: { _tag: "ApprovalDecided", ...callOf(row), requestId, decision, actor, reason },
      at: now,
    },
  ]);
};

type Answered<Port, Method extends keyof Port> = Port[Method] extends (
  ...request: ReadonlyArray<never>
) => Effect.Effect<infer A, infer E>
  ? Result.Result<A, Exclude<E, StoreError>>
  : never;

const decideIn = (
  tables: MemoryTables,
  answer: ApprovalAnswer,
  now: number,
): Answered<Approvals["Service"], "decide"> => {
  const row = tables.approvals.get(keyOf(answer.tenantId, answer.requestId));
  if (row === undefined) return Result.fail(notFound("approval request"));
  const before = approvalOf(row, now);
  return Result.map(judgeApproval(before, answer, answer.actor.id), (verdict) => {
    if (answer.decision === "approved" && row.approversRequired > 1) {
      row.approvedBy = [...row.approvedBy, answer.actor.id];
      row.voters = [...row.voters, answer.actor];
    }
    if (verdict.kind === "decide") {
      row.suggestion = answer.suggestion;
      settleApproval(tables, row, answer.decision, answer.actor, columnText(answer.reason), now);
    }
    return { before, verdict };
  });
};

const extendIn = (
  tables: MemoryTables,
  request: Parameters<Approvals["Service"]["extend"]>[0],
  now: number,
): Answered<Approvals["Service"], "extend"> => {
  const row = tables.approvals.get(keyOf(request.tenantId, request.requestId));
  if (row === undefined) return Result.fail(notFound("approval request"));
  const before = approvalOf(row, now);
  const refusal = refuseDecided(before) ?? refuseExtension(before, request.seconds);
  if (refusal !== undefined) return Result.fail(refusal);
  const expiresAt = now + request.seconds * 1_000;
  row.expiresAt = expiresAt;
  const { requestId, actor } = request;
  logEvents(tables, row, [
    { event: { _tag: "ApprovalExtended", ...callOf(row), requestId, expiresAt, actor }, at: now },
  ]);
  return Result.succeed({ before, expiresAt });
};

const expireIn = (tables: MemoryTables, limit: number, now: number) => {
  const passed = [...tables.approvals.values()]
    .filter((row) => row.state === "pending" && row.expiresAt !== null && row.expiresAt <= now)
    .toSorted((a, b) => (a.expiresAt ?? 0) - (b.expiresAt ?? 0))
    .slice(0, limit);
  const reason = "Nobody decided before the request expired.";
  for (const row of passed) {
    settleApproval(tables, row, "expired", clock, reason, now);
    appendAudit(
      tables,
      {
        tenantId: row.tenantId,
        actor: clock,
        verb: "expire-approval",
        target: row.requestId,
        runId: row.runId,
        accepted: true,
        reason,
        before: { state: "pending", expiresAt: row.expiresAt },
        after: { state: "expired" },
        commandId: null,
      },
      now,
    );
  }
  return passed.map(
    ({ tenantId, threadId }): { readonly tenantId: TenantId; readonly threadId: ThreadId } => ({
      tenantId,
      threadId,
    }),
  );
};

/** Not durable: what people decided is gone with the layer. */
export const approvalsLayer: Layer.Layer<Approvals, never, MemoryStore> = Layer.effect(
  Approvals,
  Effect.map(MemoryStore, (store) =>
    Approvals.of({
      find: ({ tenantId, requestId }) =>
        store.at((tables, now) =>
          Option.map(
            Option.fromUndefinedOr(tables.approvals.get(keyOf(tenantId, requestId))),
            (row) => approvalOf(row, now),
          ),
        ),
      ofRun: ({ tenantId, runId }) =>
        store.at((tables, now) => {
          const run = tables.runs.get(keyOf(tenantId, runId));
          if (run === undefined) return [];
          return approvalsOf(tables, run)
            .slice(0, 1_000)
            .map((row) => approvalOf(row, now));
        }),
      decide: (answer) =>
        Effect.flatMap(
          store.at((tables, now) => decideIn(tables, answer, now)),
          Effect.fromResult,
        ),
      extend: (request) =>
        Effect.flatMap(
          store.at((tables, now) => extendIn(tables, request, now)),
          Effect.fromResult,
        ),
      expire: (limit) =>
        store.at((tables, now) => expireIn(tables, Math.min(Math.max(limit, 1), 1_000), now)),
    }),
  ),
);

const unknownOf = (tables: MemoryTables, row: MemoryUnknown): StoredUnknown => {
  const { resolver: _, reason: _r, evidence: _e, delivered: _d, tenantId, ...rest } = row;
  const run = tables.runs.get(keyOf(tenantId, row.runId));
  return { ...rest, runState: run?.runState ?? "unknown" };
};

const resolveIn = (
  tables: MemoryTables,
  request: UnknownResolution,
  now: number,
): Answered<Unknowns["Service"], "resolve"> => {
  const row = tables.unknowns.get(keyOf(request.tenantId, request.unknownId));
  if (row === undefined) return Result.fail(notFound("effect in doubt"));
  const before = unknownOf(tables, row);
  const { actor, resolution, unknownId } = request;
  return Result.map(judgeResolution(before, request, actor.id), (verdict) => {
    if (verdict.kind === "same") return { before, verdict };
    row.state = "resolved";
    row.resolution = resolution;
    row.result = verdict.result ?? null;
    row.resultIsFailure = verdict.result === undefined ? null : verdict.isFailure;
    row.resolver = actor;
    row.resolverId = actor.id;
    row.resolverName = actor.name;
    row.reason = columnText(request.reason);
    row.evidence = columnText(request.evidence);
    row.resolvedAt = now;
    logEvents(tables, row, [
      { event: { _tag: "UnknownResolved", ...callOf(row), unknownId, resolution, actor }, at: now },
    ]);
    return { before, verdict };
  });
};

/** Not durable: what people resolved is gone with the layer. */
export const unknownsLayer: Layer.Layer<Unknowns, never, MemoryStore> = Layer.effect(
  Unknowns,
  Effect.map(MemoryStore, (store) =>
    Unknowns.of({
      find: ({ tenantId, unknownId }) =>
        store.at((tables) =>
          Option.map(
            Option.fromUndefinedOr(tables.unknowns.get(keyOf(tenantId, unknownId))),
            (row) => unknownOf(tables, row),
          ),
        ),
      ofRun: ({ tenantId, runId }) =>
        store.at((tables) => {
          const run = tables.runs.get(keyOf(tenantId, runId));
          if (run === undefined) return [];
          return unknownsOf(tables, run)
            .slice(0, 1_000)
            .map((row) => unknownOf(tables, row));
        }),
      resolve: (request) =>
        Effect.flatMap(
          store.at((tables, now) => resolveIn(tables, request, now)),
          Effect.fromResult,
        ),
    }),
  ),
);
