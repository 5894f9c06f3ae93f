/**
 * Calls that had started when their process was lost (DU-04 to DU-06). The
 * verdict follows from the class; a reconciler may prove more. Nothing here runs
 * a handler, and no doubt is ever turned into a failure.
 */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type { Actor, RecordOf, RunRecord } from "#lib/contract/records.ts";
import { idempotencyKeyOf, unknownIdOf } from "#lib/durable/derived-ids.ts";
import type { CallEvidence, TurnEvidence } from "#lib/durable/run-state.ts";
import type { ReconcilerAnswer, RunContext } from "./RunContext.ts";

const positionOf = (context: RunContext, turn: number, call: CallEvidence) => ({
  tenantId: context.tenantId,
  runId: context.runId,
  turn,
  callId: call.declared.callId,
});

/** The record that puts a call in front of a person. */
export const unknownRecord = (
  context: RunContext,
  turn: number,
  call: CallEvidence,
  reason: "process-lost" | "interrupted" | "handler-defect" | "run-ended",
  detail: string,
  afterSettlement: boolean,
): RunRecord => ({
  _tag: "ToolCallUnknown",
  runId: context.runId,
  turn,
  callId: call.declared.callId,
  toolName: call.declared.toolName,
  unknownId: unknownIdOf(positionOf(context, turn, call), call.preparations),
  reason,
  detail,
  afterSettlement,
});

/** How long a destination may take to say what became of a call. */
const reconcilerTimeout = "30 seconds";

const reconcilerActor: Actor = { kind: "policy", id: "reconciler", name: "Reconciler" };

/** The doubt is always recorded first; a reconciler's word answers it, as a person's would. */
const verdictRecords = (
  context: RunContext,
  turn: number,
  call: CallEvidence,
  answer: ReconcilerAnswer,
  now: number,
): ReadonlyArray<RunRecord> => {
  const unknown = unknownRecord(
    context,
    turn,
    call,
    "process-lost",
    `The process that ran this call was lost after attempt ${call.prepared?.attempt ?? 0} had started it, and no result was recorded.`,
    false,
  );
  if (answer._tag === "uncertain") return [unknown];
  const resolved: RecordOf<"UnknownResolved"> = {
    _tag: "UnknownResolved",
    runId: context.runId,
    turn,
    callId: call.declared.callId,
    toolName: call.declared.toolName,
    unknownId: unknownIdOf(positionOf(context, turn, call), call.preparations),
    resolution:
      answer._tag === "never-started"
        ? "never-happened"
        : answer._tag === "safe-to-retry"
          ? "safe-to-retry"
          : "completed-with-result",
    ...(answer._tag === "completed" ? { result: answer.result, isFailure: answer.isFailure } : {}),
    actor: reconcilerActor,
    reason: "The tool's reconciler answered.",
    evidence: "",
    resolvedAt: now,
  };
  return [unknown, resolved];
};

/** Decides about every lost call of a batch: the records that say so, in declaration order. */
export const recoverCalls = Effect.fnUntraced(function* (
  context: RunContext,
  turn: TurnEvidence,
  calls: ReadonlyArray<CallEvidence>,
  now: number,
): Effect.fn.Return<ReadonlyArray<RunRecord>> {
  const number = turn.recorded.turn;
  const verdicts = yield* Effect.forEach(calls, (call) =>
    context
      .reconcile({
        toolName: call.declared.toolName,
        callId: call.declared.callId,
        turn: number,
        parameters: call.declared.effectiveParameters ?? null,
        idempotencyKey: idempotencyKeyOf(positionOf(context, number, call)),
      })
      .pipe(
        Effect.timeoutOption(reconcilerTimeout),
        Effect.map(Option.getOrElse((): ReconcilerAnswer => ({ _tag: "uncertain" }))),
        // A reconciler that breaks or does not answer leaves the call open; it never guesses (DU-06).
        Effect.catchDefect(() => Effect.succeed<ReconcilerAnswer>({ _tag: "uncertain" })),
        Effect.map((answer) => verdictRecords(context, number, call, answer, now)),
      ),
  );
  return verdicts.flat();
});
