/** What people and the clock wrote for a run and no record carries yet, as the records that will deliver it. */
import type { RunRecord } from "#lib/contract/records.ts";
import type { MemoryRun, MemoryTables } from "./MemoryStore.ts";
import { approvalsOf, unknownsOf } from "./project.ts";

export const undeliveredOf = (tables: MemoryTables, run: MemoryRun): ReadonlyArray<RunRecord> => {
  const decisions = approvalsOf(tables, run)
    .toSorted((a, b) => (a.decidedAt ?? 0) - (b.decidedAt ?? 0))
    .flatMap((row): ReadonlyArray<RunRecord> => {
      const { state, decider, decidedAt } = row;
      if (row.delivered || decider === undefined || decidedAt === null) return [];
      if (state === "pending" || state === "withdrawn") return [];
      const approvers =
        state === "approved" && row.approversRequired > 1 ? { approvers: row.voters } : {};
      return [
        {
          _tag: "ApprovalDecided",
          runId: row.runId,
          turn: row.turn,
          callId: row.callId,
          toolName: row.toolName,
          requestId: row.requestId,
          decision: state,
          actor: decider,
          ...approvers,
          reason: row.reason,
          ...(row.suggestion === undefined ? {} : { suggestion: row.suggestion }),
          parametersDigest: row.parametersDigest,
          decidedAt,
        },
      ];
    });
  const resolutions = unknownsOf(tables, run)
    .toSorted((a, b) => (a.resolvedAt ?? 0) - (b.resolvedAt ?? 0))
    .flatMap((row): ReadonlyArray<RunRecord> => {
      const { resolution, resolver, resolvedAt } = row;
      if (row.delivered || row.afterSettlement) return [];
      if (resolution === null || resolver === undefined || resolvedAt === null) return [];
      return [
        {
          _tag: "UnknownResolved",
          runId: row.runId,
          turn: row.turn,
          callId: row.callId,
          toolName: row.toolName,
          unknownId: row.unknownId,
          resolution,
          ...(resolution === "completed-with-result"
            ? { result: row.result, isFailure: row.resultIsFailure ?? false }
            : {}),
          actor: resolver,
          reason: row.reason,
          evidence: row.evidence,
          resolvedAt,
        },
      ];
    });
  const { abort } = run;
  const aborts: ReadonlyArray<RunRecord> =
    abort === undefined || abort.delivered
      ? []
      : [
          {
            _tag: "AbortRequested",
            runId: run.runId,
            actor: abort.actor,
            reason: abort.reason,
            requestedAt: abort.requestedAt,
          },
        ];
  return [...decisions, ...resolutions, ...aborts];
};
