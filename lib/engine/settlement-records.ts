/** The records that end a run. What is in doubt is recorded with them, never after them (DU-09, DU-10). */
import * as Cause from "effect/Cause";
import { AgentBudgetExceeded, type AgentRepeatedFailureError } from "#lib/agent-error.ts";
import { ToolCallId } from "#lib/contract/ids.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import type { CallEvidence, TurnEvidence } from "#lib/durable/run-state.ts";
import { failureSummary } from "#lib/failure-diagnostic.ts";
import { diagnose } from "./diagnose.ts";
import { unknownRecord } from "./recover-calls.ts";
import type { RunContext } from "./RunContext.ts";

type Settlement = Pick<
  RecordOf<"RunSettled">,
  "outcome" | "finishReason" | "failure" | "exhausted"
>;

const doubts = {
  interrupted:
    "The run's time was used up while this call was running; it was interrupted and nothing says whether its effect happened.",
  "handler-defect":
    "A handler of this batch failed in a way it does not declare while this call had started and no result was recorded.",
  "run-ended": "The run ended while this call had started and no result was recorded.",
} as const;

export const settlementRecords = (
  context: RunContext,
  turn: TurnEvidence | undefined,
  inDoubt: ReadonlyArray<CallEvidence>,
  settlement: Settlement,
  reason: keyof typeof doubts,
): ReadonlyArray<RunRecord> => [
  ...inDoubt.map((call) =>
    unknownRecord(context, turn?.recorded.turn ?? 0, call, reason, doubts[reason], true),
  ),
  {
    _tag: "RunSettled",
    runId: context.runId,
    submissionId: context.submissionId,
    outcome: settlement.outcome,
    finishReason: settlement.finishReason,
    ...(settlement.failure === undefined ? {} : { failure: settlement.failure }),
    ...(settlement.exhausted === undefined ? {} : { exhausted: settlement.exhausted }),
  },
];

/** A limit that ends the run (F-13, F-14); without an error it is the run's active time. */
export const budgetSettlement = (
  error: AgentBudgetExceeded | AgentRepeatedFailureError | undefined,
  limitMillis = 0,
): Settlement & { readonly error: AgentBudgetExceeded | AgentRepeatedFailureError } => {
  const exceeded =
    error ??
    new AgentBudgetExceeded({
      dimension: "duration",
      limit: limitMillis,
      seen: limitMillis,
      message: `The run used up its ${limitMillis} active milliseconds while a batch was running.`,
    });
  return {
    error: exceeded,
    outcome: "failed",
    finishReason: "budget-exhausted",
    exhausted: exceeded._tag === "AgentBudgetExceeded" ? exceeded.dimension : "failures",
    failure: { errorTag: exceeded._tag, message: exceeded.message },
  };
};

const safeDefect =
  "The run failed in a way that nothing declares; operators find the evidence in its diagnostic.";

/** A failure outside any call's result: the model, the request, a defect. Its cause is kept as a diagnostic (DX-07). */
export const failedSettlement = (
  context: RunContext,
  finishReason: "model-failure" | "refused" | "defect",
  turn: number,
  cause: Cause.Cause<unknown>,
  call: { readonly callId: string; readonly toolName?: string | undefined } = { callId: "run" },
): { readonly settlement: Settlement; readonly diagnostics: ReadonlyArray<DiagnosticToStore> } => {
  const position = {
    tenantId: context.tenantId,
    runId: context.runId,
    turn,
    callId: ToolCallId.make(call.callId),
  };
  const diagnostic = diagnose(
    position,
    `${finishReason}-${context.attempt}`,
    call.toolName ?? context.definition.id,
    cause,
  );
  const summary = failureSummary(Cause.squash(cause), "Failure");
  return {
    diagnostics: [diagnostic],
    settlement: {
      outcome: "failed",
      finishReason,
      failure: {
        ...(finishReason === "defect" ? { errorTag: "Defect", message: safeDefect } : summary),
        diagnosticId: diagnostic.diagnosticId,
      },
    },
  };
};
