/**
 * Stages 4 to 6 for what is left of a batch: authorize every call, then let the
 * scheduler hand out slots. `AuthorizedBatch` is the only thing it accepts.
 */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import type * as Tool from "effect/unstable/ai/Tool";
import { programmaticToolsOf } from "#lib/broker/programmatic-tools.ts";
import type { EvidenceCorrupt } from "#lib/durable/StoreError.ts";
import type { CallEvidence, TurnEvidence } from "#lib/durable/run-state.ts";
import { runScheduled } from "#lib/scheduling/Scheduler.ts";
import { authorizeCalls, type AuthorizedBatch } from "./AuthorizationGate.ts";
import { BatchFailure } from "./call-inside.ts";
import { remainingTime, runCall } from "./CallRunner.ts";
import { makeInnerAllowance } from "./inner-allowance.ts";
import { narrowed } from "./keep-results.ts";
import type { RunContext } from "./RunContext.ts";
import { type DurabilityError, RunDurability } from "./RunDurability.ts";
import { surroundingsOf } from "./run-handler.ts";
import { unknownRecord } from "./recover-calls.ts";
import { settledNotExecuted } from "./settle-call.ts";
import { loadCalls } from "./stored-calls.ts";

/** How a batch ended, beside what it recorded. */
export type BatchEnd =
  | { readonly _tag: "recorded"; readonly cause: Cause.Cause<unknown> | undefined }
  /** A defect, or the run's active time was used up: the run ends, what is in doubt is recorded with it. */
  | { readonly _tag: "defect"; readonly cause: Cause.Cause<unknown>; readonly callId: string }
  | { readonly _tag: "timeout" };

export const executeBatch = Effect.fnUntraced(function* (
  context: RunContext,
  turn: TurnEvidence,
  calls: ReadonlyArray<CallEvidence>,
  activeMillis: number,
  callsUsed: number,
): Effect.fn.Return<BatchEnd, DurabilityError | EvidenceCorrupt, RunDurability> {
  const durability = yield* RunDurability;
  const number = turn.recorded.turn;
  const { ready, drifted } = yield* loadCalls(context, turn, calls);
  if (drifted.length > 0) {
    const endedAt = yield* durability.now;
    yield* durability.record(
      drifted.map(({ call, reason }) =>
        // An operator who lets a call run again has settled the doubt; there is only nothing left to run it with.
        call.prepared === undefined || call.resolved !== undefined
          ? settledNotExecuted(
              {
                runId: context.runId,
                turn: number,
                callId: call.declared.callId,
                toolName: call.declared.toolName,
                failureMode: call.declared.failureMode,
                resultBytes: context.resultBytes,
                endedAt,
              },
              "drift",
              reason,
            )
          : unknownRecord(
              context,
              number,
              call,
              "process-lost",
              `${reason} It had started before.`,
              false,
            ),
      ),
    );
    return { _tag: "recorded", cause: undefined };
  }
  const outcome = yield* authorizeCalls(context, number, ready);
  if (outcome._tag === "defect") return outcome;
  if (outcome._tag === "refused") {
    yield* durability.record([outcome.record], outcome.diagnostics);
    return { _tag: "recorded", cause: outcome.cause };
  }
  const ofTurn = narrowed(context, turn.recorded.exposure);
  return yield* runBatch(ofTurn, number, outcome.batch, activeMillis, callsUsed);
});

/** A barrier tool runs alone, and so does a tool that may call one: nothing then runs beside the inner call (S-02). */
const runsAlone = (context: RunContext, tool: Tool.Any): boolean =>
  [tool.name, ...(programmaticToolsOf(tool)?.toolNames ?? [])].some((name) =>
    context.scheduling.toolRequiresSequential(name),
  );

const runBatch = (
  context: RunContext,
  turn: number,
  batch: AuthorizedBatch,
  activeMillis: number,
  callsUsed: number,
): Effect.Effect<BatchEnd, DurabilityError, RunDurability> =>
  Effect.gen(function* () {
    const allowance = makeInnerAllowance(context, callsUsed);
    const surroundings = surroundingsOf(context, yield* Effect.context<never>());
    const exit = yield* runScheduled({
      calls: batch.calls,
      concurrency: context.concurrency,
      isBarrier: (call) => runsAlone(context, call.tool),
      run: (call) => runCall(context, turn, call, allowance, surroundings),
    }).pipe(
      Effect.timeoutOption(
        remainingTime(context.definition.policy.maxDurationMillis, activeMillis),
      ),
      Effect.exit,
    );
    // Results that are on their way are kept before anything follows from them.
    yield* (yield* RunDurability).record([]);
    if (Exit.isSuccess(exit)) {
      return Option.isSome(exit.value)
        ? { _tag: "recorded", cause: undefined }
        : { _tag: "timeout" };
    }
    const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
    if (failure instanceof BatchFailure) {
      return failure.kind === "defect"
        ? { _tag: "defect", cause: failure.cause, callId: failure.callId }
        : { _tag: "recorded", cause: failure.cause };
    }
    if (failure !== undefined) return yield* Effect.fail(failure);
    return yield* Effect.failCause(exit.cause as Cause.Cause<never>); // defects of our own and interruption
  });
