/**
 * Stages 1 to 3 as one durable step: ask, check, gate, and store the response
 * together with everything that follows from it: rejections, refused budgets,
 * approval requests, rules' decisions. One append, so no crash falls between a
 * response and its requests (A-01, F-08, F-09).
 */
import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import type * as LanguageModel from "effect/unstable/ai/LanguageModel";
import { toolDigestOf } from "#lib/agent/definition-digest.ts";
import type { AgentBudgetExceeded, AgentToolCallRejected } from "#lib/agent-error.ts";
import { Digest } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type {
  DeclaredCall,
  ParameterRejection,
  RecordOf,
  RunRecord,
} from "#lib/contract/records.ts";
import type { DiagnosticToStore } from "#lib/durable/Journal.ts";
import type { RunEvidence } from "#lib/durable/run-state.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import { failureSummary } from "#lib/failure-diagnostic.ts";
import { effectiveDigest, gateBatch, type GatedBatch } from "./ApprovalGate.ts";
import { toolChoiceOf } from "./completion.ts";
import { conversation } from "./conversation.ts";
import { exposeTools } from "./expose-tools.ts";
import type { RawCall } from "./model-response.ts";
import { askModel, type ModelTurnResponse } from "./ModelTurn.ts";
import { type CheckedBatch, type CheckedCall, preflight } from "./Preflight.ts";
import type { RunContext } from "./RunContext.ts";
import { RunDurability } from "./RunDurability.ts";
import { settledNotExecuted, settledRejection } from "./settle-call.ts";
import { storableArguments } from "./ToolArguments.ts";
import { isUnoffered, unofferedBatch } from "./unoffered-batch.ts";
import { type Asking, countCalls, exhaustedTime, timeToAnswer } from "./turn-plan.ts";

/** The records of one turn, or why there is none: the run then fails with that cause. */
export type TurnOutcome =
  | {
      readonly _tag: "recorded";
      readonly records: ReadonlyArray<RunRecord>;
      readonly diagnostics?: ReadonlyArray<DiagnosticToStore>;
      readonly cause: Cause.Cause<unknown> | undefined;
    }
  | {
      readonly _tag: "failed";
      readonly finishReason: "model-failure" | "refused";
      readonly cause: Cause.Cause<unknown>;
    }
  /** The run's time was used up while the model was being asked, or its last answer was none (F-14, RT-01). */
  | {
      readonly _tag: "out-of-budget";
      /** The answer that was none, where there was one. */
      readonly records: ReadonlyArray<RunRecord>;
      readonly error: AgentBudgetExceeded;
      readonly cause: Cause.Cause<unknown>;
    };

const failed =
  (finishReason: "model-failure" | "refused") =>
  (cause: Cause.Cause<unknown>): TurnOutcome => ({
    _tag: "failed",
    finishReason,
    cause,
  });

/** Shows the model's text while it is written, at most every 250 ms. */
const makeTextObserver = (turn: number, emit: RunDurability["Service"]["emit"]) => {
  let pending = "";
  let shownAt = 0;
  return (text: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      pending += text;
      if (now - shownAt < 250) return Effect.void;
      const shown = pending.slice(0, 4_000);
      pending = "";
      shownAt = now;
      return emit({ _tag: "ModelText", turn, text: shown });
    });
};

/** Asks the model for turn number `turn` and gives the records to store. */
export const takeTurn = Effect.fnUntraced(function* (
  context: RunContext,
  evidence: RunEvidence,
  turn: number,
  plan: Asking,
  activeMillis: number,
): Effect.fn.Return<TurnOutcome, never, RunDurability | LanguageModel.LanguageModel> {
  const durability = yield* RunDurability;
  const { definition } = context;
  const exposure = yield* exposeTools(context, evidence, turn, plan._tag === "final-answer");
  if (Result.isFailure(exposure)) return failed("refused")(Cause.fail(exposure.failure));
  const messages = conversation(definition.instructions, context.history, context.input, evidence);
  const startedAt = yield* durability.now;
  yield* durability.noteToolExposure(turn, exposure.success);
  yield* durability.emit({ _tag: "ModelRequested", turn });
  const asked = yield* Effect.result(
    askModel({
      messages,
      tools: definition.toolkit.tools,
      exposure: exposure.success,
      codec: context.codec,
      toolChoice: toolChoiceOf(definition.completion, plan, exposure.success),
      onText: makeTextObserver(turn, durability.emit),
    }).pipe(Effect.timeoutOption(timeToAnswer(plan, definition.policy, activeMillis))),
  );
  if (Result.isFailure(asked)) return failed("model-failure")(Cause.fail(asked.failure));
  if (Option.isNone(asked.success)) return outOfBudget(exhaustedTime(definition.policy));
  const response = asked.success.value;
  const recorded = (more: Partial<RecordOf<"TurnRecorded">>): RecordOf<"TurnRecorded"> => ({
    _tag: "TurnRecorded",
    runId: context.runId,
    turn,
    // One value in both places is what lets a later reader see that neither was changed (F-08): the engine
    // reads arguments from the model's own text, upstream from its own parse.
    response: response.response(
      new Map(more.calls?.map(({ callId, parameters }) => [callId, parameters])),
    ),
    text: response.text,
    calls: more.calls ?? response.calls.map((call, index) => undecodedCall(context, call, index)),
    rejections: [],
    exposure: exposure.success,
    finishReason: response.finishReason,
    usage: response.usage,
    startedAt,
    ...(plan._tag === "final-answer" ? { finalAnswerFor: plan.for } : {}),
    ...more,
  });
  const checked = yield* Effect.result(
    response.refusal ??
      preflight(response.calls, definition.toolkit.tools, exposure.success.exposed, context.codec),
  );
  if (Result.isFailure(checked)) {
    return plan._tag === "ordinary" &&
      definition.policy.unofferedCalls === "return" &&
      isUnoffered(checked.failure, response.calls)
      ? returnedBatch(context, recorded({}), yield* durability.now)
      : refusedTurn(plan, checked.failure, recorded);
  }
  const now = yield* durability.now;
  if (plan._tag === "ordinary" && exceedsCallBudget(context, evidence, response)) {
    return {
      _tag: "recorded",
      records: overBudget(context, turn, checked.success, recorded, now),
      cause: undefined,
    };
  }
  const gated = yield* Effect.result(gateBatch(context, turn, checked.success, messages, now));
  if (Result.isFailure(gated)) {
    const refusal = failureSummary(gated.failure, "ApprovalPolicyError");
    return { _tag: "recorded", records: [recorded({ refusal })], cause: Cause.fail(gated.failure) };
  }
  return {
    _tag: "recorded",
    records: acceptedTurn(context, turn, checked.success, gated.success, recorded, now),
    diagnostics: gated.success.diagnostics,
    cause: undefined,
  };
});

/** Every call that was declared is recorded, and none of them may start. A last answer that calls tools all the same leaves the budget as the reason (B-09, F-07, F-14). */
const refusedTurn = (
  plan: Asking,
  rejected: AgentToolCallRejected,
  recorded: MakeTurn,
): TurnOutcome => {
  const records = [recorded({ refusal: failureSummary(rejected, "AgentToolCallRejected") })];
  return plan._tag === "final-answer"
    ? { ...outOfBudget(plan.error), records }
    : { _tag: "recorded", records, cause: Cause.fail(rejected) };
};

/** The batch goes back to the model, none of it started. */
const returnedBatch = (
  context: RunContext,
  turn: RecordOf<"TurnRecorded">,
  endedAt: number,
): TurnOutcome => {
  const { rejections, settled } = unofferedBatch(turn.calls, turn.exposure, (call) => ({
    runId: context.runId,
    turn: turn.turn,
    callId: call.callId,
    toolName: call.toolName,
    failureMode: call.failureMode,
    resultBytes: context.resultBytes,
    endedAt,
  }));
  return { _tag: "recorded", records: [{ ...turn, rejections }, ...settled], cause: undefined };
};

const outOfBudget = (
  error: AgentBudgetExceeded,
): Extract<TurnOutcome, { readonly _tag: "out-of-budget" }> => ({
  _tag: "out-of-budget",
  records: [],
  error,
  cause: Cause.fail(error),
});

const exceedsCallBudget = (
  context: RunContext,
  evidence: RunEvidence,
  response: ModelTurnResponse,
): boolean => countCalls(evidence) + response.calls.length > context.definition.policy.maxToolCalls;

type MakeTurn = (more: Partial<RecordOf<"TurnRecorded">>) => RecordOf<"TurnRecorded">;

const settlementBase = (context: RunContext, turn: number, call: CheckedCall, endedAt: number) => ({
  runId: context.runId,
  turn,
  callId: call.callId,
  toolName: call.toolName,
  failureMode: call.tool.failureMode,
  resultBytes: context.resultBytes,
  endedAt,
});

/** Nothing of a batch over the tool-call budget starts; each call says so (F-14). */
const overBudget = (
  context: RunContext,
  turn: number,
  batch: CheckedBatch,
  recorded: MakeTurn,
  now: number,
): ReadonlyArray<RunRecord> => [
  recorded({
    calls: batch.calls.map((call) => declaredCall(call, false)),
    rejections: rejectionsOf(batch),
  }),
  ...batch.calls.map((call) =>
    settledNotExecuted(
      settlementBase(context, turn, call, now),
      "preflight",
      `The run's limit of ${context.definition.policy.maxToolCalls} tool calls is reached; nothing of this batch was started.`,
    ),
  ),
];

const acceptedTurn = (
  context: RunContext,
  turn: number,
  batch: CheckedBatch,
  gated: GatedBatch,
  recorded: MakeTurn,
  now: number,
): ReadonlyArray<RunRecord> => {
  const rejected = batch.calls.filter((call) => call._tag === "rejected");
  return [
    recorded({
      calls: batch.calls.map((call) => declaredCall(call, gated.needsApproval.has(call.callId))),
      rejections: rejectionsOf(batch),
    }),
    ...rejected.map((call) =>
      settledRejection(settlementBase(context, turn, call, now), call.encodedError),
    ),
    ...gated.requests,
    ...gated.decisions,
  ];
};

const rejectionsOf = (batch: CheckedBatch): ReadonlyArray<ParameterRejection> =>
  batch.calls.flatMap((call) =>
    call._tag === "rejected"
      ? [{ callId: call.callId, parameters: call.parameters, encodedError: call.encodedError }]
      : [],
  );

const parametersOf = (call: CheckedCall): Json =>
  call._tag === "executable" ? call.arguments.parameters : call.parameters;

const declaredCall = (call: CheckedCall, needsApproval: boolean): DeclaredCall => ({
  callId: call.callId,
  index: call.index,
  toolName: call.toolName,
  parameters: parametersOf(call),
  ...(call._tag === "executable" ? { effectiveParameters: call.arguments.effective } : {}),
  parametersDigest:
    call._tag === "executable" ? effectiveDigest(call) : Digest.make(digestOf(call.parameters)),
  providerExecuted: call._tag === "provider",
  executionClass: executionClassOf(call.tool),
  failureMode: call.tool.failureMode,
  toolDigest: toolDigestOf(call.tool),
  needsApproval,
});

const noDigest = Digest.make("0".repeat(64));

/** A call of a refused response: shown as declared, although nothing of it was ever decoded (B-09). */
const undecodedCall = (context: RunContext, call: RawCall, index: number): DeclaredCall => {
  const { tools } = context.definition.toolkit;
  const tool = Object.hasOwn(tools, call.toolName) ? tools[call.toolName] : undefined;
  const parameters = storableArguments(call.params);
  return {
    // completeResponse has checked the id's form (T-17), so the brand holds.
    callId: call.callId as DeclaredCall["callId"],
    index,
    toolName: call.toolName,
    parameters,
    parametersDigest: Digest.make(digestOf(parameters)),
    providerExecuted: call.providerExecuted,
    executionClass: tool === undefined ? "uncertain" : executionClassOf(tool),
    ...(tool === undefined ? {} : { failureMode: tool.failureMode }),
    toolDigest: tool === undefined ? noDigest : toolDigestOf(tool),
    needsApproval: false,
  };
};
