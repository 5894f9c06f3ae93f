/**
 * Stage 6: what becomes of a call whose handler has ended, as data: the records to
 * store, and whether the batch goes on. One table for the model's own calls and
 * for those of programs (CM-01). Pure.
 */
import type { RecordOf } from "#lib/contract/records.ts";
import { unknownIdOf } from "#lib/durable/derived-ids.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import type { ResultToKeep } from "#lib/results/kept-text.ts";
import { BatchFailure } from "./call-inside.ts";
import { completesRun } from "./completion.ts";
import { diagnose } from "./diagnose.ts";
import { keepCut } from "./keep-results.ts";
import type { RunContext } from "./RunContext.ts";
import { type ExecutedCall, positionOf, type ReadyCall } from "./run-handler.ts";
import {
  settledPropagated,
  settledReturned,
  settledSuccess,
  type SettlementBase,
} from "./settle-call.ts";

export type CallSettlement =
  | {
      readonly _tag: "settled";
      readonly record: RecordOf<"ToolCallSettled">;
      readonly diagnostics: ReadonlyArray<DiagnosticToStore>;
      /** The whole text of a result that was cut; stored with the record. */
      readonly results?: ReadonlyArray<ResultToKeep>;
      /** The run ends with this once it is stored (B-08). */
      readonly ends: BatchFailure | undefined;
    }
  | { readonly _tag: "unknown"; readonly record: RecordOf<"ToolCallUnknown"> }
  /** Nothing is stored here: the run loop records what is in doubt together with the settlement (DU-09). */
  | { readonly _tag: "defect"; readonly ends: BatchFailure }
  | { readonly _tag: "interrupted" };

/** The record of a call that cannot say what became of its effect (DU-04). */
export const unsureRecord = (
  context: RunContext,
  turn: number,
  { evidence }: ReadyCall,
  detail: string,
): RecordOf<"ToolCallUnknown"> => ({
  _tag: "ToolCallUnknown",
  runId: context.runId,
  turn,
  callId: evidence.declared.callId,
  toolName: evidence.declared.toolName,
  unknownId: unknownIdOf(positionOf(context, turn, evidence), evidence.preparations + 1),
  reason: "handler-unsure",
  detail,
  afterSettlement: false,
});

export const settlementOf = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  { endedAt, outcome, startedAt }: ExecutedCall,
): CallSettlement => {
  const { declared, preparations } = call.evidence;
  const position = positionOf(context, turn, call.evidence);
  const about = {
    runId: context.runId,
    turn,
    callId: declared.callId,
    toolName: declared.toolName,
  };
  const base: SettlementBase = {
    failureMode: call.tool.failureMode,
    resultBytes: context.resultBytes,
    isInner: declared.parentCallId !== undefined,
    completes: completesRun(context, declared),
    startedAt,
    endedAt,
    ...about,
  };
  const evidenceOf = (cause: unknown) =>
    diagnose(position, `failure-${preparations}`, declared.toolName, cause);
  switch (outcome._tag) {
    case "succeeded":
      return {
        _tag: "settled",
        ...keepCut(
          context,
          settledSuccess(base, outcome.result, outcome.selection),
          outcome.result,
          base,
        ),
        diagnostics: [],
        ends: undefined,
      };
    case "returned": {
      const diagnostics = outcome.evidence === undefined ? [] : [evidenceOf(outcome.evidence)];
      const [diagnostic] = diagnostics;
      const failure =
        diagnostic === undefined
          ? outcome.failure
          : { ...outcome.failure, diagnosticId: diagnostic.diagnosticId };
      return {
        _tag: "settled",
        ...keepCut(context, settledReturned(base, outcome.result, failure), outcome.result, base),
        diagnostics,
        ends: undefined,
      };
    }
    case "propagated": {
      const diagnostic = evidenceOf(outcome.cause);
      return {
        _tag: "settled",
        record: settledPropagated(base, {
          ...outcome.failure,
          diagnosticId: diagnostic.diagnosticId,
        }),
        diagnostics: [diagnostic],
        ends: new BatchFailure({
          cause: outcome.cause,
          kind: "tool-failure",
          callId: declared.callId,
        }),
      };
    }
    case "unsure":
      return {
        _tag: "unknown",
        record: unsureRecord(context, turn, call, outcome.detail),
      };
    case "defect":
      return {
        _tag: "defect",
        ends: new BatchFailure({ cause: outcome.cause, kind: "defect", callId: declared.callId }),
      };
    case "interrupted":
      return { _tag: "interrupted" };
  }
};
