/** What a record changes beside the journal; the memory twin of `project_changes` in the migrations. */
import type { RunEvent } from "#lib/contract/events.ts";
import { Digest } from "#lib/contract/ids.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import {
  keyOf,
  logEvents,
  type MemoryApproval,
  type MemoryRun,
  type MemoryTables,
  type MemoryUnknown,
} from "./MemoryStore.ts";

const system = { kind: "system", id: "system", name: "system" } as const;
const reconciler = { kind: "policy", id: "reconciler", name: "reconciler" } as const;

export const approvalsOf = (tables: MemoryTables, run: MemoryRun): ReadonlyArray<MemoryApproval> =>
  [...tables.approvals.values()].filter(
    (row) => row.tenantId === run.tenantId && row.runId === run.runId,
  );

export const unknownsOf = (tables: MemoryTables, run: MemoryRun): ReadonlyArray<MemoryUnknown> =>
  [...tables.unknowns.values()].filter(
    (row) => row.tenantId === run.tenantId && row.runId === run.runId,
  );

const requested = (tables: MemoryTables, run: MemoryRun, record: RecordOf<"ApprovalRequested">) => {
  const key = keyOf(run.tenantId, record.requestId);
  if (tables.approvals.has(key)) return;
  const { request } = record;
  tables.approvals.set(key, {
    tenantId: run.tenantId,
    requestId: record.requestId,
    runId: run.runId,
    threadId: run.threadId,
    agentId: run.agentId,
    turn: record.turn,
    callId: record.callId,
    toolName: record.toolName,
    summary: request.summary,
    state: "pending",
    parametersDigest: request.parametersDigest,
    approversRequired: request.approversRequired,
    selfApproval: request.selfApproval,
    requesterId: run.requester.id,
    expiresAt: request.expiresAt === "never" ? null : request.expiresAt,
    decidedBy: null,
    decidedAt: null,
    approvedBy: [],
    decider: undefined,
    reason: "",
    suggestion: undefined,
    voters: [],
    delivered: false,
  });
};

/** A person's row is decided already; a rule's decision comes with the record that carries it. */
const decided = (tables: MemoryTables, run: MemoryRun, record: RecordOf<"ApprovalDecided">) => {
  const row = tables.approvals.get(keyOf(run.tenantId, record.requestId));
  if (row === undefined) return;
  row.delivered = true;
  if (row.state !== "pending") return;
  row.state = record.decision;
  row.decider = record.actor;
  row.decidedBy = record.actor.name;
  row.decidedAt = record.decidedAt;
  row.reason = record.reason;
};

/** A retry that a person allowed can end in doubt again: the same call, open once more. */
const inDoubt = (tables: MemoryTables, run: MemoryRun, record: RecordOf<"ToolCallUnknown">) => {
  const declared = tables.declared.get(keyOf(run.runId, record.turn, record.callId));
  tables.unknowns.set(keyOf(run.tenantId, record.unknownId), {
    tenantId: run.tenantId,
    unknownId: record.unknownId,
    runId: run.runId,
    threadId: run.threadId,
    agentId: run.agentId,
    turn: record.turn,
    callId: record.callId,
    toolName: record.toolName,
    state: "open",
    afterSettlement: record.afterSettlement,
    parametersDigest: declared?.parametersDigest ?? Digest.make("0".repeat(64)),
    resolution: null,
    result: null,
    resultIsFailure: null,
    resolverId: null,
    resolverName: null,
    resolvedAt: null,
    resolver: undefined,
    reason: "",
    evidence: "",
    delivered: false,
  });
};

const resolved = (tables: MemoryTables, run: MemoryRun, record: RecordOf<"UnknownResolved">) => {
  const row = tables.unknowns.get(keyOf(run.tenantId, record.unknownId));
  if (row === undefined) return;
  row.delivered = true;
  if (row.state === "resolved") return;
  row.state = "resolved";
  row.resolution = record.resolution;
  row.result = record.result ?? null;
  row.resultIsFailure = record.isFailure ?? null;
  row.resolver = record.actor;
  row.resolverId = record.actor.id;
  row.resolverName = record.actor.name;
  row.reason = record.reason;
  row.evidence = record.evidence;
  row.resolvedAt = record.resolvedAt;
};

/** A reconciler that later proves what happened closes the open doubt. */
const reconciled = (
  tables: MemoryTables,
  run: MemoryRun,
  record: RecordOf<"ToolCallSettled">,
  at: number,
) => {
  for (const row of unknownsOf(tables, run)) {
    if (row.state !== "open" || row.turn !== record.turn || row.callId !== record.callId) continue;
    row.state = "resolved";
    row.delivered = true;
    row.resolution = "completed-with-result";
    row.result = record.result;
    row.resultIsFailure = record.isFailure;
    row.resolver = reconciler;
    row.resolverId = reconciler.id;
    row.resolverName = reconciler.name;
    row.reason = "The reconciler proved the outcome.";
    row.evidence = "reconciler";
    row.resolvedAt = at;
  }
};

const settled = (
  tables: MemoryTables,
  run: MemoryRun,
  record: RecordOf<"RunSettled">,
  at: number,
) => {
  run.state = "settled";
  run.stateSince = at;
  run.runState = record.outcome;
  // Also where a person has resolved it and no record says so: the run ended without hearing it.
  for (const row of unknownsOf(tables, run)) {
    if (row.state === "open" || !row.delivered) row.afterSettlement = true;
  }
  const reason = "The run ended before anyone decided.";
  const withdrawn: Array<RunEvent> = [];
  for (const row of approvalsOf(tables, run)) {
    if (row.state !== "pending") continue;
    row.state = "withdrawn";
    row.decider = system;
    row.decidedBy = system.name;
    row.decidedAt = at;
    row.reason = reason;
    withdrawn.push({
      _tag: "ApprovalDecided",
      turn: row.turn,
      callId: row.callId,
      toolName: row.toolName,
      requestId: row.requestId,
      decision: "withdrawn",
      actor: system,
      reason,
    });
  }
  logEvents(
    tables,
    run,
    withdrawn.map((event) => ({ event, at })),
  );
};

/** Applies one record; `at` is the moment of its append. */
export const project = (
  tables: MemoryTables,
  run: MemoryRun,
  record: RunRecord,
  at: number,
): void => {
  switch (record._tag) {
    case "RunOpened":
    case "AttemptStarted":
      run.runState = "running";
      return;
    case "TurnRecorded":
      run.lostAttempts = 0;
      for (const call of record.calls)
        tables.declared.set(keyOf(run.runId, record.turn, call.callId), call);
      return;
    case "InnerCallDeclared":
      tables.declared.set(keyOf(run.runId, record.turn, record.declared.callId), record.declared);
      return;
    case "ApprovalRequested":
      return requested(tables, run, record);
    case "ApprovalDecided":
      return decided(tables, run, record);
    case "ToolCallSettled":
      run.lostAttempts = 0;
      if (record.source === "reconciler") reconciled(tables, run, record, at);
      return;
    case "ToolCallUnknown":
      return inDoubt(tables, run, record);
    case "UnknownResolved":
      return resolved(tables, run, record);
    case "AbortRequested":
      if (run.abort === undefined)
        run.abort = {
          actor: record.actor,
          reason: record.reason,
          requestedAt: record.requestedAt,
          delivered: true,
        };
      else run.abort.delivered = true;
      return;
    case "RunSuspended":
      run.lostAttempts = 0;
      run.state = record.waitingFor === "approval" ? "waiting" : "unknown";
      run.runState = run.state;
      run.stateSince = at;
      return;
    case "RunSettled":
      return settled(tables, run, record, at);
    case "ToolCallPrepared":
    case "StepRecorded":
    case "UnknownProbed":
    case "AuthorizationDenied":
    case "AuthorizationCheckFailed":
      return;
  }
};
