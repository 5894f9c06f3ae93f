/**
 * One call inside a call, from its request to its recorded end: allowlist and
 * eligibility, arguments, authorization, budgets, handler (CM-03). Each step is
 * the one that the model's own calls pass.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type * as Tool from "effect/unstable/ai/Tool";
import { toolDigestOf } from "#lib/agent/definition-digest.ts";
import {
  ProgrammaticToolAuthorizationDenied,
  ProgrammaticToolBudgetExceeded,
  ProgrammaticToolError,
  ProgrammaticToolFailed,
  ProgrammaticToolNotAllowed,
  ProgrammaticToolParametersInvalid,
} from "#lib/broker/broker-error.ts";
import { ineligible } from "#lib/broker/programmatic-tools.ts";
import { Digest, type ToolCallId } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { DeclaredCall, RunRecord } from "#lib/contract/records.ts";
import { innerCallIdOf } from "#lib/durable/derived-ids.ts";
import { type CallEvidence, declaredEvidence, isInDoubt } from "#lib/durable/run-state.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import { authorizeCalls, type AuthorizedBatch } from "./AuthorizationGate.ts";
import {
  BatchFailure,
  type CallInside,
  endCall,
  makeCallInside,
  unlessEnded,
} from "./call-inside.ts";
import { eligibleTools } from "./expose-tools.ts";
import type { InnerAllowance } from "./inner-allowance.ts";
import { meetRecorded } from "./meet-recorded.ts";
import { ModelCodec } from "./ModelCodec.ts";
import type { RunContext } from "./RunContext.ts";
import { type DurabilityError, RunDurability } from "./RunDurability.ts";
import { executeCall, positionOf, type ReadyCall } from "./run-handler.ts";
import { settledRefused } from "./settle-call.ts";
import { settlementOf } from "./settlement-of.ts";
import {
  decodeArguments,
  type DecodedArguments,
  decodeEffective,
  storableArguments,
} from "./ToolArguments.ts";

/** What the inner calls of one execution of an outer call share. */
export interface InnerCallState {
  readonly context: RunContext;
  readonly turn: number;
  readonly outer: ReadyCall;
  readonly inside: CallInside;
  readonly allowance: InnerAllowance;
  readonly maxCalls: number;
  /** What earlier executions recorded, by sequence index. */
  readonly recorded: ReadonlyMap<number, CallEvidence>;
  started: number;
  /** Calls that may have acted and have no result. */
  readonly open: Map<ToolCallId, CallEvidence>;
  /** A doubt about an inner call is on record and nobody has resolved it. */
  hasRecordedDoubt: boolean;
}

/** Where a call stands within its outer one. */
export interface InnerPlace {
  readonly toolName: string;
  readonly sequenceIndex: number;
}

/** A program's arguments are in the tool's own encoding; the shapes of providers are tried after it, as ever. */
const codec = ModelCodec.plain;

const noDigest = Digest.make("0".repeat(64));

/** Makes a call's durable step, or ends the outer call where facts cannot be kept. */
const kept = <A, R>(
  inside: CallInside,
  effect: Effect.Effect<A, DurabilityError, R>,
): Effect.Effect<A, never, R> =>
  Effect.catch(effect, (error) => endCall(inside, { _tag: "batch", error }));

/** Makes the call and gives its encoded result; the program may catch what it fails with. */
export const performInnerCall = Effect.fnUntraced(function* (
  state: InnerCallState,
  place: InnerPlace,
  encodedArguments: unknown,
): Effect.fn.Return<Json, ProgrammaticToolError, RunDurability> {
  const { context, outer, turn } = state;
  yield* unlessEnded(state.inside);
  const { tools } = context.definition.toolkit;
  const tool = Object.hasOwn(tools, place.toolName) ? tools[place.toolName] : undefined;
  const params = encodedArguments === undefined ? {} : encodedArguments;
  const parameters = storableArguments(params);
  const known = state.recorded.get(place.sequenceIndex);
  if (known !== undefined) {
    const met = meetRecorded(outer, known, { ...place, parameters }, tool);
    if (met._tag === "ends") {
      state.hasRecordedDoubt ||= met.outcome._tag === "unsure";
      return yield* endCall(state.inside, { _tag: "outcome", outcome: met.outcome });
    }
    if (met._tag === "known") return yield* met.result;
  }
  const visible = yield* eligibleTools(context, turn);
  const refusal = ineligible(outer.tool, place.toolName, tools, visible);
  if (tool === undefined || refusal !== undefined) {
    const { message, reason } = refusal ?? { reason: "not-registered", message: "No such tool." };
    const declared = declaredInner(state, place, tool, parameters, undefined);
    const error = new ProgrammaticToolNotAllowed({ ...place, reason, message });
    return yield* refuse(state, known, declared, "not-executed", error);
  }
  const decoded = yield* decodeArguments(
    tool,
    {
      callId: "",
      toolName: place.toolName,
      argumentsText: undefined,
      params,
      providerExecuted: false,
    },
    codec,
  );
  // As with a call of the model: the handler gets what the recorded arguments decode to.
  const read = Result.isFailure(decoded)
    ? Result.fail(decoded.failure.description)
    : Result.map(yield* decodeEffective(tool, decoded.success.effective), (handed) => ({
        ...decoded.success,
        handed,
      }));
  if (Result.isFailure(read)) {
    const declared = declaredInner(state, place, tool, parameters, undefined);
    const message = `The arguments of ${place.toolName} are invalid: ${read.failure}`;
    const error = new ProgrammaticToolParametersInvalid({ ...place, message });
    return yield* refuse(state, known, declared, "rejected", error);
  }
  const declared = declaredInner(state, place, tool, parameters, read.success);
  const call: ReadyCall = {
    evidence: known ?? declaredEvidence(declared),
    tool,
    effective: read.success.effective,
    decoded: read.success.handed,
  };
  const authorized = yield* authorize(state, place, known, call);
  const isBarrier = context.scheduling.toolRequiresSequential(tool.name);
  // Budgets are taken in the slot, so that a call that is interrupted while it waits has cost nothing.
  const run = Effect.suspend(() => {
    const exceeded = known === undefined ? reserve(state, place) : undefined;
    return exceeded === undefined
      ? runInner(state, place, known, authorized)
      : refuse(state, known, declared, "not-executed", exceeded);
  });
  return yield* state.allowance.inSlot(isBarrier, run);
});

const declaredInner = (
  { context, outer, turn }: InnerCallState,
  place: InnerPlace,
  tool: Tool.Any | undefined,
  parameters: Json,
  decoded: DecodedArguments | undefined,
): DeclaredCall => ({
  callId: innerCallIdOf(positionOf(context, turn, outer.evidence), place.sequenceIndex),
  index: place.sequenceIndex,
  toolName: place.toolName,
  parameters,
  ...(decoded === undefined ? {} : { effectiveParameters: decoded.effective }),
  parametersDigest: Digest.make(digestOf(decoded?.effective ?? parameters)),
  providerExecuted: false,
  executionClass: tool === undefined ? "uncertain" : executionClassOf(tool),
  ...(tool === undefined ? {} : { failureMode: tool.failureMode }),
  toolDigest: tool === undefined ? noDigest : toolDigestOf(tool),
  needsApproval: false,
  parentCallId: outer.evidence.declared.callId,
});

/** What declares the call, unless an earlier execution has declared it. */
const declaration = (
  { context, turn }: InnerCallState,
  known: CallEvidence | undefined,
  declared: DeclaredCall,
): ReadonlyArray<RunRecord> =>
  known === undefined ? [{ _tag: "InnerCallDeclared", runId: context.runId, turn, declared }] : [];

/** A call that may have acted is not refused afterwards: first somebody says what became of it (DU-04). */
const unlessInDoubt = (
  { inside }: InnerCallState,
  known: CallEvidence | undefined,
  refusal: string,
): Effect.Effect<void> =>
  known !== undefined && isInDoubt(known)
    ? endCall(inside, {
        _tag: "outcome",
        outcome: {
          _tag: "unsure",
          detail: `Its call number ${known.declared.index} of ${known.declared.toolName} is in doubt and may not run again: ${refusal}`,
        },
      })
    : Effect.void;

/** Records a refusal, so that operators see it and a program that runs again meets it again. */
const refuse = Effect.fnUntraced(function* (
  state: InnerCallState,
  known: CallEvidence | undefined,
  declared: DeclaredCall,
  kind: "rejected" | "not-executed",
  error: ProgrammaticToolError,
): Effect.fn.Return<never, ProgrammaticToolError, RunDurability> {
  const { context, inside, turn } = state;
  yield* unlessInDoubt(state, known, error.message);
  const durability = yield* RunDurability;
  const encoded = yield* Effect.orDie(Schema.encodeUnknownEffect(ProgrammaticToolError)(error));
  const settled = settledRefused(
    {
      runId: context.runId,
      turn,
      callId: declared.callId,
      toolName: declared.toolName,
      failureMode: declared.failureMode,
      resultBytes: context.resultBytes,
      isInner: true,
      endedAt: yield* durability.now,
    },
    kind,
    Result.getOrThrow(toJson(encoded)),
    { errorTag: error._tag, message: error.message },
  );
  yield* kept(inside, durability.record([...declaration(state, known, declared), settled]));
  return yield* error;
});

/** The host's own policy, asked about this very call; a denial is the program's to catch (Z-11). */
const authorize = Effect.fnUntraced(function* (
  state: InnerCallState,
  place: InnerPlace,
  known: CallEvidence | undefined,
  call: ReadyCall,
): Effect.fn.Return<AuthorizedBatch, ProgrammaticToolError, RunDurability> {
  const { context, inside, turn } = state;
  const durability = yield* RunDurability;
  const answer = yield* authorizeCalls(context, turn, [call]);
  if (answer._tag === "authorized") return answer.batch;
  if (answer._tag === "defect") {
    const { callId, cause } = answer;
    const error = new BatchFailure({ cause, kind: "defect", callId });
    return yield* endCall(inside, { _tag: "batch", error });
  }
  const { cause, diagnostics, record } = answer;
  if (record._tag === "AuthorizationDenied") yield* unlessInDoubt(state, known, record.reason);
  yield* kept(
    inside,
    durability.record([...declaration(state, known, call.evidence.declared), record], diagnostics),
  );
  if (record._tag === "AuthorizationDenied")
    return yield* new ProgrammaticToolAuthorizationDenied({ ...place, message: record.reason });
  // A check that could not be made is no denial: it ends the run like any other (Z-06).
  const { callId } = record;
  const error = new BatchFailure({ cause, kind: "tool-failure", callId });
  return yield* endCall(inside, { _tag: "batch", error });
});

/** Takes one call of each budget, or says which has none left (CM-05). */
const reserve = (
  state: InnerCallState,
  place: InnerPlace,
): ProgrammaticToolBudgetExceeded | undefined => {
  const { maxCalls, outer } = state;
  if (state.started >= maxCalls)
    return new ProgrammaticToolBudgetExceeded({
      ...place,
      dimension: "programmaticCalls",
      limit: maxCalls,
      message: `One call of ${outer.tool.name} may start at most ${maxCalls} calls.`,
    });
  const exhausted = state.allowance.reserve();
  if (exhausted !== undefined)
    return new ProgrammaticToolBudgetExceeded({
      ...place,
      dimension: "toolCalls",
      limit: exhausted.limit,
      message: `The run's limit of ${exhausted.limit} tool calls is reached; ${place.toolName} was not started.`,
    });
  state.started += 1;
  return undefined;
};

/** Runs the handler in its slot and records how it ended before the program hears of it. */
const runInner = (
  state: InnerCallState,
  place: InnerPlace,
  known: CallEvidence | undefined,
  { calls: [call] }: AuthorizedBatch,
): Effect.Effect<Json, ProgrammaticToolError, RunDurability> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      if (call === undefined) return yield* Effect.die(new Error("One call was authorized."));
      const { context, inside, open, turn } = state;
      const durability = yield* RunDurability;
      const { declared, preparations } = call.evidence;
      const own = makeCallInside();
      if (declared.executionClass !== "readonly")
        open.set(declared.callId, { ...call.evidence, preparations: preparations + 1 });
      const executed = yield* kept(
        inside,
        executeCall(context, turn, call, {
          inside: own,
          first: declaration(state, known, declared),
        }),
      );
      if (own.end?._tag === "batch") return yield* endCall(inside, own.end);
      const settlement = settlementOf(context, turn, call, executed);
      switch (settlement._tag) {
        case "interrupted":
          return yield* Effect.interrupt;
        case "defect":
          return yield* endCall(inside, { _tag: "batch", error: settlement.ends });
        case "unknown":
          yield* kept(inside, durability.record([settlement.record]));
          open.delete(declared.callId);
          state.hasRecordedDoubt = true;
          return yield* endCall(inside, {
            _tag: "outcome",
            outcome: { _tag: "unsure", detail: settlement.record.detail },
          });
        case "settled": {
          const { diagnostics, ends, record, results } = settlement;
          yield* kept(inside, durability.record([record], diagnostics, results));
          open.delete(declared.callId);
          if (ends !== undefined) return yield* endCall(inside, { _tag: "batch", error: ends });
          if (!record.isFailure) return record.result;
          return yield* new ProgrammaticToolFailed({
            ...place,
            errorTag: record.failure?.errorTag ?? "ToolFailure",
            message: record.failure?.message ?? `The tool ${place.toolName} failed.`,
            failure: record.result,
          });
        }
      }
    }),
  );
