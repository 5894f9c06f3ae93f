/**
 * A promise that is kept only when its host has no time left to act on it. Its call was
 * never started and never will be by this host, which alone knows that: it says so in
 * the words that a reconciler would use, a doubt and its answer in one append, so that
 * the next owner makes the call and nobody is asked about it (DU-04, DU-06).
 */
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { unknownIdOf } from "#lib/durable/derived-ids.ts";
import { stoppingHostActor } from "#lib/durable/rule-actors.ts";
import type { Claim } from "#lib/durable/SubmissionLedger.ts";

type Promised = RecordOf<"ToolCallPrepared">;

/** @param records every record of the run, the promise among them */
export const takeBack = (
  { tenantId, runId }: Pick<Claim, "tenantId" | "runId">,
  records: ReadonlyArray<RunRecord>,
  { callId, toolName, turn }: Promised,
  now: number,
): ReadonlyArray<RunRecord> => {
  const preparations = records.filter(
    (record) =>
      record._tag === "ToolCallPrepared" && record.turn === turn && record.callId === callId,
  ).length;
  const about = {
    runId,
    turn,
    callId,
    toolName,
    unknownId: unknownIdOf({ tenantId, runId, turn, callId }, preparations),
  };
  return [
    {
      _tag: "ToolCallUnknown",
      ...about,
      reason: "process-lost",
      detail:
        "The host was told to stop, and its time to do so was over before the promise to make this call was stored.",
      afterSettlement: false,
    },
    {
      _tag: "UnknownResolved",
      ...about,
      resolution: "never-happened",
      actor: stoppingHostActor,
      reason: "The host that had promised the call did not start it any more.",
      evidence: "",
      resolvedAt: now,
    },
  ];
};
