import { deniedResult, expiredResult } from "#lib/approval/result-text.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import type { CallEvidence, TurnEvidence } from "#lib/durable/run-state.ts";
import type { RunContext } from "./RunContext.ts";
import { settledResolved, settledUnapproved } from "./settle-call.ts";

/** Results of calls that people or the clock answered; no handler runs for them (A-06, A-07, DU-08). */
export const answeredRecords = (
  context: RunContext,
  turn: TurnEvidence,
  calls: ReadonlyArray<CallEvidence>,
  now: number,
): ReadonlyArray<RunRecord> =>
  calls.flatMap((call): ReadonlyArray<RunRecord> => {
    const { callId, toolName, failureMode } = call.declared;
    const base = {
      runId: context.runId,
      turn: turn.recorded.turn,
      callId,
      toolName,
      failureMode,
      resultBytes: context.resultBytes,
      endedAt: now,
    };
    if (call.resolved?.resolution === "completed-with-result") {
      return [settledResolved(base, "resolution", call.resolved.result ?? null, call.resolved.isFailure ?? false)];
    }
    switch (call.decided?.decision) {
      case "denied":
        return [settledUnapproved(base, "denied-by-person", deniedResult(toolName, call.decided.reason))];
      case "expired":
        return [settledUnapproved(base, "expired", expiredResult(toolName))];
      default:
        return [];
    }
  });
