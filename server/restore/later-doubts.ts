/**
 * What a run may have done after the backup that its database was restored from.
 * Pure: the records say which calls were open, and an open call of a class that
 * may act once only is in doubt from now on, because whoever ran it after the
 * backup left no record here.
 */
import type { RunId, TenantId } from "#lib/contract/ids.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { decideNext } from "#lib/durable/decide-next.ts";
import { idempotencyKeyOf, unknownIdOf } from "#lib/durable/derived-ids.ts";
import { type CallEvidence, foldRecords, withInner } from "#lib/durable/run-state.ts";

export type AfterRestore =
  /** It only has to be settled: nothing of it can act any more. */
  | { readonly _tag: "leave" }
  /** Effects in doubt are recorded; the run waits for their resolution. */
  | { readonly _tag: "doubt"; readonly records: ReadonlyArray<RunRecord>; readonly calls: number }
  /** No call is open, but the model may have been asked and answered since: a person says whether it goes on. */
  | { readonly _tag: "hold" };

const detail =
  "The database was restored from a backup that was made before this call had a result. Whether it ran after the backup is not recorded here. Look at the destination, for this call and for whatever else this run may have done since, before you answer.";

/** The call would run, or its doubt would be answered, by somebody who does not know what came after the backup. */
const mayHaveRun = (call: CallEvidence): boolean =>
  call.settled === undefined &&
  !call.declared.providerExecuted &&
  call.declared.executionClass === "uncertain" &&
  call.rejection === undefined &&
  call.decided?.decision !== "denied" &&
  call.decided?.decision !== "expired" &&
  call.resolved?.resolution !== "completed-with-result";

/** A doubt that is open already stays as it is; one that was answered before the backup is asked again. */
const isOpenDoubt = (call: CallEvidence, answeredBefore: ReadonlySet<string>): boolean =>
  call.unknown !== undefined &&
  call.resolved === undefined &&
  !answeredBefore.has(call.unknown.unknownId);

/**
 * @param answeredBefore doubts that somebody let run again before the backup and no
 *   record says so yet: they may have run after it
 */
export const afterRestoreOf = (
  run: { readonly tenantId: TenantId; readonly runId: RunId },
  stored: ReadonlyArray<RunRecord>,
  answeredBefore: ReadonlySet<string> = new Set(),
): AfterRestore => {
  const evidence = foldRecords(stored);
  const next = decideNext(evidence, evidence.attempts + 1);
  if (next._tag === "Done" || next._tag === "Settle" || next._tag === "Answer")
    return { _tag: "leave" };
  const turn = evidence.turns.at(-1);
  // An inner call in doubt is met when its parent runs again, unless an answer is there already.
  const doubts = withInner(turn?.calls ?? []).filter(
    (call) =>
      mayHaveRun(call) &&
      (call.declared.parentCallId === undefined ||
        (call.unknown !== undefined && answeredBefore.has(call.unknown.unknownId))),
  );
  if (turn === undefined || doubts.length === 0) return { _tag: "hold" };
  const records = doubts
    .filter((call) => !isOpenDoubt(call, answeredBefore))
    .flatMap((call): ReadonlyArray<RunRecord> => {
      const { callId, toolName, executionClass, parametersDigest } = call.declared;
      const about = { runId: run.runId, turn: turn.recorded.turn, callId, toolName };
      const position = { ...run, turn: turn.recorded.turn, callId };
      const isInDoubt = call.prepared !== undefined && call.resolved === undefined;
      return [
        ...(isInDoubt
          ? []
          : [
              {
                _tag: "ToolCallPrepared" as const,
                ...about,
                executionClass,
                parametersDigest,
                idempotencyKey: idempotencyKeyOf(position),
                attempt: evidence.attempts,
              },
            ]),
        {
          _tag: "ToolCallUnknown",
          ...about,
          unknownId: unknownIdOf(position, call.preparations + (isInDoubt ? 0 : 1)),
          reason: "process-lost",
          detail,
          afterSettlement: false,
        },
      ];
    });
  return {
    _tag: "doubt",
    calls: doubts.length,
    records: [
      ...records,
      {
        _tag: "RunSuspended",
        runId: run.runId,
        attempt: evidence.attempts,
        waitingFor: "unknown",
        activeMillis: 0,
      },
    ],
  };
};
