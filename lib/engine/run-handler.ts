/**
 * Stage 5 for one call that holds a slot, the model's own or a program's: prepare,
 * run the handler, say how it ended. The preparation is durable before the handler
 * can act (DU-01, DU-02).
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Result from "effect/Result";
import * as Tracer from "effect/Tracer";
import type * as Tool from "effect/unstable/ai/Tool";
import { CurrentToolCall, type ToolCallIdentity } from "#lib/current-tool-call.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { DeclaredCall, RunRecord } from "#lib/contract/records.ts";
import { type CallSteps, CurrentCallSteps } from "#lib/durable/call-steps.ts";
import { cutValue } from "#lib/durable/record-events.ts";
import { idempotencyKeyOf } from "#lib/durable/derived-ids.ts";
import type { CallEvidence } from "#lib/durable/run-state.ts";
import { type Catalogue, DiscoveryCatalogue } from "#lib/exposure/discovery/catalogue.ts";
import { selects } from "#lib/exposure/select.ts";
import { KeptResults, type KeptResultsShape } from "#lib/results/KeptResults.ts";
import { ToolBroker, type ToolBrokerShape } from "#lib/tool-broker.ts";
import { type CallInside, makeCallSteps, outcomeInside } from "./call-inside.ts";
import { captureFailure } from "./capture-failure.ts";
import { type CallOutcome, classifyExit } from "./classify-exit.ts";
import { eligibleTools } from "./expose-tools.ts";
import { keptResultsOf } from "./keep-results.ts";
import type { RunContext } from "./RunContext.ts";
import { type DurabilityError, RunDurability } from "./RunDurability.ts";
import { handlerOf, runToolHandler, type ToolHandler } from "./tool-handler.ts";
import { closeToolSpan, openToolSpan, parentFor } from "./ToolSpan.ts";

/** Most progress events shown of one call: of what comes after them only the last is, with the number left out (T-08). */
const maxProgressEvents = 256;

/** A call that authorization let through; only the gate makes one. */
export interface ReadyCall {
  readonly evidence: CallEvidence;
  readonly tool: Tool.Any;
  /** In the tool's own encoding. */
  readonly effective: Json;
  /** The same as the handler takes it. */
  readonly decoded: unknown;
}

/** How a handler ended, and when. */
export interface ExecutedCall {
  readonly outcome: CallOutcome;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What surrounds one execution of a call. */
export interface Execution {
  readonly inside: CallInside;
  /** Absent: the handler can call nothing. */
  readonly broker?: { readonly service: ToolBrokerShape; readonly close: Effect.Effect<void> };
  /** Stored in one append with the preparation: what declares an inner call. */
  readonly first?: ReadonlyArray<RunRecord>;
  /** Made once for a batch; absent: made for this call of where it runs. */
  readonly surroundings?: Surroundings;
}

/** The services of a handler that are the same for all its calls in one batch. */
export type Surroundings = (handler: ToolHandler) => Context.Context<never>;

/**
 * What a handler finds around it, but for what belongs to one call: the services of its
 * layer, of where the batch runs and of the run; each wins over those before it. Merging
 * copies all services, so it is done once for each handler.
 */
export const surroundingsOf = (
  context: RunContext,
  ambient: Context.Context<never>,
): Surroundings => {
  const merged = new Map<Context.Context<never>, Context.Context<never>>();
  return (handler) => {
    const known = merged.get(handler.context);
    if (known !== undefined) return known;
    const made = Context.mergeAll(handler.context, ambient, context.services);
    merged.set(handler.context, made);
    return made;
  };
};

/** Runs the handler and shows its progress. */
const runHandler = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  handler: ToolHandler,
  inside: CallInside,
  emit: RunDurability["Service"]["emit"],
  onStart: (fiber: Fiber.Fiber<unknown, unknown>) => void,
) => {
  const { callId, toolName } = call.evidence.declared;
  let index = 0;
  let latest: unknown;
  const show = (encoded: unknown, dropped: number) =>
    emit({
      _tag: "ToolProgress",
      turn,
      callId,
      toolName,
      index,
      value: cutValue(Result.getOrElse(toJson(encoded), () => null)),
      dropped,
    });
  const progress = (encoded: unknown) => {
    // A handler that outlives its call while it is being interrupted shows nothing more.
    if (inside.closed) return Effect.void;
    index += 1;
    latest = encoded;
    return index < maxProgressEvents ? show(encoded, 0) : Effect.void;
  };
  return Effect.tap(
    runToolHandler(call.tool, handler, call.decoded, callId, progress, onStart),
    () => (index < maxProgressEvents ? Effect.void : show(latest, index - maxProgressEvents)),
  );
};

/** What a discovery tool may search: the tools that visibility leaves to this run. */
const searchable = (context: RunContext, turn: number) =>
  Effect.map(eligibleTools(context, turn), (eligible) => {
    const { tools } = context.definition.toolkit;
    if (eligible === undefined) return { tools };
    const names = new Set(eligible);
    return { tools: Object.fromEntries(Object.entries(tools).filter(([name]) => names.has(name))) };
  });

/** Where a call stands; all ids that follow from it are made of this. */
export const positionOf = (context: RunContext, turn: number, call: CallEvidence) => ({
  tenantId: context.tenantId,
  runId: context.runId,
  turn,
  callId: call.declared.callId,
});

const identityOf = (context: RunContext, turn: number, call: CallEvidence) => {
  const { callId, index, parentCallId } = call.declared;
  return {
    idempotencyKey: idempotencyKeyOf(positionOf(context, turn, call)),
    threadId: context.threadId,
    runId: context.runId,
    turn,
    callId,
    attempt: call.preparations + 1,
    ...(parentCallId === undefined
      ? {}
      : { programmatic: { parentToolCallId: parentCallId, sequenceIndex: index } }),
  };
};

/** The promise before an effect, or only a word that a readonly call has started (DU-01, DU-05). */
const prepare = (
  context: RunContext,
  durability: RunDurability["Service"],
  turn: number,
  declared: DeclaredCall,
  idempotencyKey: string,
  first: ReadonlyArray<RunRecord>,
): Effect.Effect<void, DurabilityError> => {
  const { callId, parentCallId, toolName } = declared;
  const parent = parentCallId === undefined ? {} : { parentCallId };
  if (declared.executionClass === "readonly") {
    const started = durability.emit({
      _tag: "ToolCallStarted",
      turn,
      callId,
      toolName,
      attempt: context.attempt,
      ...parent,
    });
    return first.length === 0 ? started : Effect.andThen(durability.record(first), started);
  }
  return durability.record([
    ...first,
    {
      _tag: "ToolCallPrepared",
      runId: context.runId,
      turn,
      callId,
      toolName,
      executionClass: declared.executionClass,
      parametersDigest: declared.parametersDigest,
      idempotencyKey,
      attempt: context.attempt,
      ...parent,
    },
  ]);
};

/** The surroundings with what belongs to this very call, which wins over them. */
const servicesOf = (
  surroundings: Context.Context<never>,
  span: Tracer.AnySpan | undefined,
  own: {
    readonly identity: ToolCallIdentity;
    readonly steps: CallSteps;
    readonly broker: ToolBrokerShape | undefined;
    readonly catalogue: Catalogue | undefined;
    readonly results: KeptResultsShape | undefined;
  },
): Context.Context<never> => {
  const services = surroundings.pipe(
    Context.add(CurrentToolCall, own.identity),
    Context.add(CurrentCallSteps, own.steps),
    // Always, so that an inner call never inherits its parent's.
    Context.add(ToolBroker, own.broker ?? ToolBroker.defaultValue()),
    Context.add(DiscoveryCatalogue, own.catalogue),
  );
  const all =
    own.results === undefined ? services : Context.add(services, KeptResults, own.results);
  return span === undefined ? all : Context.add(all, Tracer.ParentSpan, span);
};

/**
 * Runs one call's handler to its end. Called where interruption is off; only the
 * handler itself is interruptible, so that its end is always classified.
 */
export const executeCall = Effect.fnUntraced(function* (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  execution: Execution,
): Effect.fn.Return<ExecutedCall, DurabilityError, RunDurability> {
  const durability = yield* RunDurability;
  const { broker, first = [], inside } = execution;
  const { declared } = call.evidence;
  const identity = identityOf(context, turn, call.evidence);
  const catalogue = selects(call.tool) ? yield* searchable(context, turn) : undefined;
  // Only one handler reads them.
  const results =
    context.results?.readerName === declared.toolName
      ? keptResultsOf(context, inside, durability)
      : undefined;
  const steps = makeCallSteps(context, durability, turn, call.evidence, inside);
  const startedAt = yield* durability.now;
  yield* prepare(context, durability, turn, declared, identity.idempotencyKey, first);
  const span = yield* openToolSpan(context, call);
  let handling: Fiber.Fiber<unknown, unknown> | undefined;
  const exit = yield* Effect.suspend(() => {
    const handler = handlerOf(context.services, call.tool);
    const own = { identity, steps, broker: broker?.service, catalogue, results };
    const services = (ambient: Context.Context<never>) => {
      const surroundings = execution.surroundings ?? surroundingsOf(context, ambient);
      return servicesOf(surroundings(handler), parentFor(span), own);
    };
    return runHandler(context, turn, call, handler, inside, durability.emit, (fiber) => {
      handling = fiber;
    }).pipe(Effect.updateContext(services));
  }).pipe(Effect.interruptible, Effect.exit);
  inside.closed = true;
  if (broker !== undefined) yield* broker.close;
  // Of a call that was interrupted the handler may still be closing; its slot is not free before (B-03, S-02).
  if (handling !== undefined && handling.pollUnsafe() === undefined)
    yield* Fiber.interrupt(handling);
  const { tools } = context.definition.toolkit;
  const classified = classifyExit(call.tool, tools, declared.callId, exit);
  const captured =
    declared.parentCallId === undefined
      ? classified
      : yield* captureFailure(call.tool, declared.callId, classified);
  const outcome = outcomeInside(inside, captured);
  yield* closeToolSpan(span, call, outcome);
  return { outcome, startedAt, endedAt: yield* durability.now };
});
