/**
 * The one interpreter of a run (RT-03). It asks the records what is next, does
 * it, records what came of it, and asks again, until the run is settled or waits
 * for a person. A run that was taken up after a crash is the same loop over more
 * records; there is no second path.
 */
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as AiError from "effect/unstable/ai/AiError";
import type * as LanguageModel from "effect/unstable/ai/LanguageModel";
import { AgentToolApprovalDenied, AgentToolApprovalExpired } from "#lib/agent-error.ts";
import type { RecordOf, RunRecord } from "#lib/contract/records.ts";
import {
  decideNext,
  explainRecovery,
  type NextAct,
  terminalDenialOf,
} from "#lib/durable/decide-next.ts";
import {
  foldRecords,
  type RunEvidence,
  type TurnEvidence,
  unrecordedDoubts,
} from "#lib/durable/run-state.ts";
import { EvidenceCorrupt } from "#lib/durable/StoreError.ts";
import { answerRecords } from "./answer.ts";
import { answeredRecords } from "./answered-calls.ts";
import { executeBatch } from "./execute-batch.ts";
import { withGuardedTracer } from "./guarded-tracer.ts";
import { probeUnknowns, recoverCalls } from "./recover-calls.ts";
import type { RunContext } from "./RunContext.ts";
import { isTransient } from "./ModelTurn.ts";
import { AttemptPostponed, type DurabilityError, RunDurability } from "./RunDurability.ts";
import { reportRecovered } from "./report-recovered.ts";
import { checkEvidence } from "./stored-calls.ts";
import { takeTurn } from "./take-turn.ts";
import { budgetSettlement, failedSettlement, settlementRecords } from "./settlement-records.ts";
import { countCalls, planTurn, usedBefore } from "./turn-plan.ts";

export type RunEnd =
  /** `cause` is the live failure, which an ephemeral caller gets back as it was (F-01). */
  | {
      readonly _tag: "settled";
      readonly settled: RecordOf<"RunSettled">;
      readonly cause: Cause.Cause<unknown> | undefined;
    }
  | { readonly _tag: "suspended"; readonly waitingFor: "approval" | "unknown" };

/** What the loop holds between two acts; everything else is in the records. */
interface LoopState {
  evidence: RunEvidence;
  cause: Cause.Cause<unknown> | undefined;
  /** Waits for people inside this attempt, which the run's time does not pay for (DU-16). */
  waitedMillis: number;
}

/**
 * @param stored the run's records so far
 * @param deliver records that people's commands became; stored with the attempt's start
 */
export const interpret = Effect.fnUntraced(function* (
  context: RunContext,
  stored: ReadonlyArray<RunRecord>,
  deliver: ReadonlyArray<RunRecord>,
): Effect.fn.Return<RunEnd, DurabilityError, RunDurability | LanguageModel.LanguageModel> {
  const outer = yield* RunDurability;
  const state: LoopState = { evidence: foldRecords(stored), cause: undefined, waitedMillis: 0 };
  const noted = (records: ReadonlyArray<RunRecord>) => {
    state.evidence = foldRecords(records, state.evidence);
    return reportRecovered(context, records);
  };
  const durability = RunDurability.of({
    ...outer,
    record: (records, diagnostics, results) =>
      Effect.tap(outer.record(records, diagnostics, results), () => noted(records)),
    // Noted at once: what follows from it is recorded behind it or not at all.
    recordSoon: (records, diagnostics, results) =>
      Effect.tap(outer.recordSoon(records, diagnostics, results), () => noted(records)),
  });
  return yield* Effect.gen(function* () {
    if (state.evidence.settled === undefined) {
      yield* startAttempt(context, state, durability, deliver);
      yield* refuseCorruptEvidence(context, state, durability);
    }
    // After the first append: only then does a durable run know the database's clock.
    const startedAt = yield* outer.now;
    const activeMillis = Effect.map(
      outer.now,
      (now) => state.evidence.activeMillis + (now - startedAt - state.waitedMillis),
    );
    for (;;) {
      const next = decideNext(state.evidence, context.attempt);
      const end = yield* act(context, state, durability, next, yield* activeMillis);
      if (end !== undefined) return end;
    }
  }).pipe(Effect.provideService(RunDurability, durability), withGuardedTracer);
});

/** Writes what the attempt starts from, and what recovery makes of it, in one append. */
const startAttempt = (
  context: RunContext,
  state: LoopState,
  durability: RunDurability["Service"],
  deliver: ReadonlyArray<RunRecord>,
) => {
  const delivered = foldRecords(deliver, state.evidence);
  const opening: ReadonlyArray<RunRecord> =
    delivered.opened === undefined
      ? [
          {
            _tag: "RunOpened",
            runId: context.runId,
            submissionId: context.submissionId,
            agentId: context.definition.id,
            definitionDigest: context.definitionDigest,
            modelId: context.modelId,
            input: context.input,
            requester: context.requester,
          },
        ]
      : [];
  return durability.record([
    ...opening,
    ...deliver,
    {
      _tag: "AttemptStarted",
      runId: context.runId,
      attempt: context.attempt,
      epoch: context.epoch,
      ...explainRecovery(delivered, context.attempt),
    },
  ]);
};

/** What is taken up again is checked whole before anything follows from it, complete turns too (F-08). An abort needs no evidence. */
const refuseCorruptEvidence = Effect.fnUntraced(function* (
  context: RunContext,
  state: LoopState,
  durability: RunDurability["Service"],
): Effect.fn.Return<void, DurabilityError> {
  if (state.evidence.abort !== undefined) return;
  for (const turn of state.evidence.turns) {
    const checked = yield* Effect.result(checkEvidence(context, turn));
    if (checked._tag === "Failure")
      return yield* settleCorrupt(context, state, durability, checked.failure);
  }
});

const act = (
  context: RunContext,
  state: LoopState,
  durability: RunDurability["Service"],
  next: NextAct,
  activeMillis: number,
): Effect.Effect<
  RunEnd | undefined,
  DurabilityError,
  RunDurability | LanguageModel.LanguageModel
> => {
  switch (next._tag) {
    case "Done":
      return Effect.succeed({ _tag: "settled", settled: next.settled, cause: state.cause });
    case "Open":
      return Effect.die(new Error("An attempt always opens its run before it acts."));
    case "AskModel":
      return Effect.as(nextTurn(context, state, durability, next.turn, activeMillis), undefined);
    case "SettleAnswered":
      return Effect.gen(function* () {
        const now = yield* durability.now;
        const answered = answeredRecords(context, next.turn, next.calls, now);
        yield* durability.record(answered.records, [], answered.results);
        return undefined;
      });
    case "ClassifyLost":
      return Effect.gen(function* () {
        const now = yield* durability.now;
        yield* durability.record(yield* recoverCalls(context, next.turn, next.calls, now));
        return undefined;
      });
    case "Execute":
      return execute(context, state, durability, next, activeMillis);
    case "Suspend":
      return suspend(context, state, durability, next.waitingFor, activeMillis);
    case "Answer":
      return Effect.gen(function* () {
        const answered = yield* answerRecords(context, state.evidence, next);
        state.cause = answered.cause;
        yield* durability.record(answered.records, answered.diagnostics);
        return undefined;
      });
    case "Settle":
      state.cause ??= terminalDenial(next.turn);
      return joinsChildren(next.settlement.finishReason, context).pipe(
        Effect.andThen(
          durability.record(
            settlementRecords(context, next.turn, next.inDoubt, next.settlement, "run-ended"),
          ),
        ),
        Effect.as(undefined),
      );
  }
};

/** An abort or a denial settles a run only after what is attached to it has ended (SA-05). */
const joinsChildren = (
  finishReason: RecordOf<"RunSettled">["finishReason"],
  context: RunContext,
): Effect.Effect<void> =>
  finishReason === "aborted" || finishReason === "denied" || finishReason === "approval-denied"
    ? (context.joinChildren ?? Effect.void)
    : Effect.void;

/** A terminal denial is found in the records, so its error is made from them. */
const terminalDenial = (turn: TurnEvidence | undefined): Cause.Cause<unknown> | undefined => {
  const terminal = turn === undefined ? undefined : terminalDenialOf(turn);
  if (terminal === undefined) return undefined;
  const { call, decided, message } = terminal;
  const about = {
    toolCallId: call.declared.callId,
    toolName: call.declared.toolName,
    requestId: decided.requestId,
    message,
  };
  return Cause.fail(
    decided.decision === "expired"
      ? new AgentToolApprovalExpired({ ...about, expiredAt: decided.decidedAt })
      : new AgentToolApprovalDenied(about),
  );
};

const nextTurn = Effect.fnUntraced(function* (
  context: RunContext,
  state: LoopState,
  durability: RunDurability["Service"],
  turn: number,
  activeMillis: number,
) {
  const plan = planTurn(state.evidence, context.definition.policy, activeMillis);
  if (plan._tag === "stop") {
    state.cause = Cause.fail(plan.error);
    return yield* durability.record(
      settlementRecords(context, undefined, [], budgetSettlement(plan.error), "run-ended"),
    );
  }
  const outcome = yield* takeTurn(context, state.evidence, turn, plan, activeMillis);
  state.cause = outcome.cause;
  if (outcome._tag === "recorded")
    return yield* durability.record(outcome.records, outcome.diagnostics);
  if (outcome._tag === "out-of-budget") {
    return yield* durability.record([
      ...outcome.records,
      ...settlementRecords(context, undefined, [], budgetSettlement(outcome.error), "run-ended"),
    ]);
  }
  if (
    durability.postponesPassing &&
    outcome.finishReason === "model-failure" &&
    isPassing(outcome.cause)
  ) {
    return yield* new AttemptPostponed({
      reason: "The model could not be reached; the run is tried again later.",
    });
  }
  const { settlement, diagnostics } = failedSettlement(
    context,
    outcome.finishReason,
    turn,
    outcome.cause,
  );
  return yield* durability.record(
    settlementRecords(context, undefined, [], settlement, "run-ended"),
    diagnostics,
  );
});

const isPassing = (cause: Cause.Cause<unknown>): boolean => {
  const error = cause.reasons.find(Cause.isFailReason)?.error;
  return AiError.isAiError(error) && isTransient(error);
};

const execute = Effect.fnUntraced(function* (
  context: RunContext,
  state: LoopState,
  durability: RunDurability["Service"],
  next: Extract<NextAct, { readonly _tag: "Execute" }>,
  activeMillis: number,
): Effect.fn.Return<RunEnd | undefined, DurabilityError, RunDurability> {
  const used = countCalls(state.evidence);
  const usedMillis = usedBefore(next.turn, context.definition.policy, activeMillis);
  const end = yield* Effect.result(executeBatch(context, next.turn, next.calls, usedMillis, used));
  if (end._tag === "Failure") {
    return end.failure instanceof EvidenceCorrupt
      ? yield* settleCorrupt(context, state, durability, end.failure)
      : yield* Effect.fail(end.failure);
  }
  const batch = end.success;
  if (batch._tag === "recorded") {
    state.cause = batch.cause ?? state.cause;
    return undefined;
  }
  const turn = state.evidence.turns.at(-1);
  const inDoubt = unrecordedDoubts(turn);
  if (batch._tag === "timeout") {
    const { maxDurationMillis } = context.definition.policy;
    const settlement = budgetSettlement(undefined, maxDurationMillis);
    state.cause = Cause.fail(settlement.error);
    yield* durability.record(settlementRecords(context, turn, inDoubt, settlement, "interrupted"));
    return undefined;
  }
  state.cause = batch.cause;
  const { settlement, diagnostics } = failedSettlement(
    context,
    "defect",
    next.turn.recorded.turn,
    batch.cause,
    {
      callId: batch.callId,
      toolName: next.calls.find(({ declared }) => declared.callId === batch.callId)?.declared
        .toolName,
    },
  );
  yield* durability.record(
    settlementRecords(context, turn, inDoubt, settlement, "handler-defect"),
    diagnostics,
  );
  return undefined;
});

const settleCorrupt = (
  context: RunContext,
  state: LoopState,
  durability: RunDurability["Service"],
  error: EvidenceCorrupt,
): Effect.Effect<undefined, DurabilityError> => {
  state.cause = Cause.fail(error);
  const turn = state.evidence.turns.at(-1);
  const inDoubt = unrecordedDoubts(turn);
  return Effect.as(
    durability.record(
      settlementRecords(
        context,
        turn,
        inDoubt,
        {
          outcome: "failed",
          finishReason: "corrupt-evidence",
          failure: { errorTag: "EvidenceCorrupt", message: error.message },
        },
        "run-ended",
      ),
    ),
    undefined,
  );
};

const suspend = Effect.fnUntraced(function* (
  context: RunContext,
  state: LoopState,
  durability: RunDurability["Service"],
  waitingFor: "approval" | "unknown",
  activeMillis: number,
): Effect.fn.Return<RunEnd | undefined, DurabilityError> {
  if (waitingFor === "approval") {
    const requests =
      state.evidence.turns
        .at(-1)
        ?.calls.flatMap((call) =>
          call.requested !== undefined && call.decided === undefined && call.settled === undefined
            ? [call.requested]
            : [],
        ) ?? [];
    const askedAt = yield* durability.now;
    const answers = yield* durability.answers(requests);
    state.waitedMillis += (yield* durability.now) - askedAt;
    if (answers.length > 0) {
      yield* durability.record(answers);
      if (answers.length === requests.length) return undefined;
    }
  }
  const turn = state.evidence.turns.at(-1);
  if (waitingFor === "unknown" && turn !== undefined) {
    const answers = yield* probeUnknowns(context, turn, durability.now);
    if (answers.length > 0) {
      yield* durability.record(answers);
      return undefined;
    }
  }
  yield* durability.record([
    {
      _tag: "RunSuspended",
      runId: context.runId,
      attempt: context.attempt,
      waitingFor,
      activeMillis: Math.max(0, Math.round(activeMillis - state.evidence.activeMillis)),
    },
  ]);
  return { _tag: "suspended", waitingFor };
});
