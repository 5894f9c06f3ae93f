import { deniedResult, expiredResult } from "#lib/approval/result-text.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { sourceOfResolution } from "#lib/durable/rule-actors.ts";
import type { CallEvidence, TurnEvidence } from "#lib/durable/run-state.ts";
import { completesRun } from "./completion.ts";
import type { ResultToKeep } from "#lib/results/kept-text.ts";
import { keepCut, narrowed } from "./keep-results.ts";
import type { RunContext } from "./RunContext.ts";
import { settledRejection, settledResolved, settledUnapproved } from "./settle-call.ts";

/** Results of calls that validation, people or the clock answered; no handler runs for them (A-06, A-07, DU-08). */
export const answeredRecords = (
  context: RunContext,
  turn: TurnEvidence,
  calls: ReadonlyArray<CallEvidence>,
  now: number,
): {
  readonly records: ReadonlyArray<RunRecord>;
  readonly results: ReadonlyArray<ResultToKeep>;
} => {
  const results: Array<ResultToKeep> = [];
  const ofTurn = narrowed(context, turn.recorded.exposure);
  const records = calls.flatMap((call): ReadonlyArray<RunRecord> => {
    const { callId, toolName, failureMode } = call.declared;
    const base = {
      runId: context.runId,
      turn: turn.recorded.turn,
      callId,
      toolName,
      failureMode,
      resultBytes: context.resultBytes,
      endedAt: now,
      isInner: call.declared.parentCallId !== undefined,
      completes: completesRun(context, call.declared),
    };
    // Stored with its response as a rule; a store that keeps only the rejection gives the same result again (F-08, F-09).
    if (call.rejection !== undefined) return [settledRejection(base, call.rejection.encodedError)];
    if (call.resolved?.resolution === "completed-with-result") {
      const result = call.resolved.result ?? null;
      const record = settledResolved(
        base,
        sourceOfResolution(call.resolved.actor),
        result,
        call.resolved.isFailure ?? false,
      );
      const settled = keepCut(ofTurn, record, result, base);
      results.push(...(settled.results ?? []));
      return [settled.record];
    }
    switch (call.decided?.decision) {
      case "denied":
        return [
          settledUnapproved(
            base,
            "denied-by-person",
            deniedResult(toolName, call.decided.reason, call.decided.suggestion),
          ),
        ];
      case "expired":
        return [settledUnapproved(base, "expired", expiredResult(toolName))];
      default:
        return [];
    }
  });
  return { records, results };
};
