/** What one worker of the model check does next: the product's own decision, and the records that an engine writes for it. */
import { RunId } from "#lib/contract/ids.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import { decideNext, type NextAct } from "#lib/durable/decide-next.ts";
import { unknownIdOf } from "#lib/durable/derived-ids.ts";
import { type CallEvidence, foldRecords } from "#lib/durable/run-state.ts";
import { recordsOf } from "#lib/testing/conformance/run-records.ts";
import { runOf, tenantId, type Worker, type World } from "./ledger-world.ts";

/** What a broken runtime would do; each must be met by an invariant. */
export interface Faults {
  /** The epoch of an append is not compared. */
  readonly fencingOff?: boolean;
  /** A retry of an append is taken for a new one. */
  readonly replayCheckOff?: boolean;
  /** A handler starts before its preparation is written. */
  readonly preparedSkipped?: boolean;
  /** A lost call simply runs again. */
  readonly lostCallsRerun?: boolean;
}

/** The calls of the one turn; the second is gated. */
export interface Scenario {
  readonly calls: ReadonlyArray<string>;
  readonly gated: ReadonlyArray<string>;
  readonly faults: Faults;
}

/** Records of the one run. */
export const place = (world: World) => {
  const run = runOf(world);
  return recordsOf({
    tenantId,
    threadId: run.threadId,
    runId: run.runId,
    submissionId: run.submissionId,
  });
};

const unknownFor = (world: World, call: CallEvidence, after: boolean): RunRecord => ({
  ...place(world).unknown(call.declared.callId, after),
  unknownId: unknownIdOf(
    { tenantId, runId: RunId.make(runOf(world).runId), turn: 1, callId: call.declared.callId },
    call.preparations,
  ),
});

/** The result that an answered call gets without a handler, as the engine gives it. */
const answerOf = (world: World, call: CallEvidence): RecordOf<"ToolCallSettled"> =>
  call.resolved?.resolution === "completed-with-result"
    ? place(world).settled(call.declared.callId, "done", { source: "resolution" })
    : place(world).settled(call.declared.callId, "denied", {
        kind: "denied-by-person",
        isFailure: true,
        source: "approval",
      });

export type Wanted =
  | { readonly _tag: "append"; readonly records: ReadonlyArray<RunRecord> }
  | { readonly _tag: "start"; readonly callId: string }
  | { readonly _tag: "leave" };

/** What the worker does next: the product's decision, and the records that an engine would write for it. */
export const wanted = (world: World, worker: Worker, scenario: Scenario): Wanted => {
  const records = place(world);
  const evidence = foldRecords(worker.records);
  if (!worker.isStarted) {
    const opens = foldRecords(worker.deliver, evidence).opened === undefined;
    return {
      _tag: "append",
      records: [
        ...(opens ? [records.opened()] : []),
        ...worker.deliver,
        records.attempt(worker.attempt, worker.epoch),
      ],
    };
  }
  const decided = decideNext(evidence, worker.attempt);
  const next: NextAct =
    decided._tag === "ClassifyLost" && scenario.faults.lostCallsRerun === true
      ? { _tag: "Execute", turn: decided.turn, calls: decided.calls }
      : decided;
  switch (next._tag) {
    case "AskModel":
      return {
        _tag: "append",
        records:
          next.turn === 1
            ? [
                records.turn(scenario.calls),
                ...scenario.gated.map((id) => records.approvalRequested(id)),
              ]
            : [records.turn([], { turn: next.turn })],
      };
    case "SettleAnswered":
      return { _tag: "append", records: next.calls.map((call) => answerOf(world, call)) };
    case "ClassifyLost":
      return { _tag: "append", records: next.calls.map((call) => unknownFor(world, call, false)) };
    case "Execute": {
      const [call] = next.calls;
      if (call === undefined) throw new Error("an execution without calls");
      return scenario.faults.preparedSkipped === true
        ? { _tag: "start", callId: call.declared.callId }
        : { _tag: "append", records: [records.prepared(call.declared.callId, worker.attempt)] };
    }
    case "Suspend":
      return { _tag: "append", records: [records.suspended(next.waitingFor, worker.attempt)] };
    case "Answer":
      return { _tag: "append", records: [records.runSettled("completed")] };
    case "Settle":
      return {
        _tag: "append",
        records: [
          ...next.inDoubt.map((call) => unknownFor(world, call, true)),
          records.runSettled(next.settlement.outcome),
        ],
      };
    case "Done":
      return { _tag: "leave" };
    case "Open":
      throw new Error("an attempt opens its run before it acts");
  }
};
