/**
 * Stage 5 for one call that holds a slot, the model's own or a program's: prepare,
 * run the handler, say how it ended. The preparation is durable before the handler
 * can act (DU-01, DU-02).
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Stream from "effect/Stream";
import type * as Tool from "effect/unstable/ai/Tool";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import { CurrentCallSteps } from "#lib/durable/call-steps.ts";
import { cutValue } from "#lib/durable/record-events.ts";
import { idempotencyKeyOf } from "#lib/durable/derived-ids.ts";
import type { CallEvidence } from "#lib/durable/run-state.ts";
import { DiscoveryCatalogue } from "#lib/exposure/discovery/catalogue.ts";
import { selects } from "#lib/exposure/select.ts";
import { KeptResults } from "#lib/results/KeptResults.ts";
import { ToolBroker, type ToolBrokerShape } from "#lib/tool-broker.ts";
import { type CallInside, makeCallSteps, outcomeInside } from "./call-inside.ts";
import { captureFailure } from "./capture-failure.ts";
import { type CallOutcome, classifyExit, type HandlerFinal } from "./classify-exit.ts";
import { eligibleTools } from "./expose-tools.ts";
import { keptResultsOf } from "./keep-results.ts";
import type { RunContext } from "./RunContext.ts";
import { type DurabilityError, RunDurability } from "./RunDurability.ts";
import { withToolSpan } from "./ToolSpan.ts";

/** Most progress events shown of one call: of what comes after them only the last is, with the number left out (T-08). */
const maxProgressEvents = 256;

/** A call that authorization let through; only the gate makes one. */
export interface ReadyCall {
  readonly evidence: CallEvidence;
  readonly tool: Tool.Any;
  /** In the tool's own encoding; `handle` decodes it once more into the handler's type. */
  readonly effective: Json;
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
}

const runHandler = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  emit: RunDurability["Service"]["emit"],
) =>
  Effect.gen(function* () {
    const { declared } = call.evidence;
    let final: HandlerFinal | undefined;
    let index = 0;
    let latest: unknown;
    const show = (encoded: unknown, dropped: number) =>
      emit({
        _tag: "ToolProgress",
        turn,
        callId: declared.callId,
        toolName: declared.toolName,
        index,
        value: cutValue(Result.getOrElse(toJson(encoded), () => null)),
        dropped,
      });
    // The toolkit's own types are gone here: `handle` decodes the stored arguments itself.
    const stream = yield* context.handlers.handle(
      declared.toolName,
      call.effective as never,
      declared.callId,
    );
    yield* Stream.runForEach(stream, (output) => {
      if (!output.preliminary) {
        final = output;
        return Effect.void;
      }
      index += 1;
      latest = output.encodedResult;
      return index < maxProgressEvents ? show(latest, 0) : Effect.void;
    });
    if (index >= maxProgressEvents) yield* show(latest, index - maxProgressEvents);
    return final;
  });

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
  turn: number,
  { declared }: CallEvidence,
  idempotencyKey: string,
  first: ReadonlyArray<RunRecord>,
): Effect.Effect<void, DurabilityError, RunDurability> =>
  Effect.gen(function* () {
    const durability = yield* RunDurability;
    const { callId, parentCallId, toolName } = declared;
    const parent = parentCallId === undefined ? {} : { parentCallId };
    if (declared.executionClass === "readonly") {
      if (first.length > 0) yield* durability.record(first);
      return yield* durability.emit({
        _tag: "ToolCallStarted",
        turn,
        callId,
        toolName,
        attempt: context.attempt,
        ...parent,
      });
    }
    yield* durability.record([
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
  });

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
  const steps = yield* makeCallSteps(context, turn, call.evidence, inside);
  const startedAt = yield* durability.now;
  yield* prepare(context, turn, call.evidence, identity.idempotencyKey, first);
  const handled = runHandler(context, turn, call, durability.emit);
  const outcome = yield* withToolSpan(context, call, (span) =>
    Effect.interruptible(
      (results === undefined ? handled : Effect.provideService(handled, KeptResults, results)).pipe(
        Effect.provideService(CurrentToolCall, identity),
        Effect.provideService(CurrentCallSteps, steps),
        // Always, so that an inner call never inherits its parent's.
        Effect.provideService(ToolBroker, broker?.service ?? ToolBroker.defaultValue()),
        Effect.provideService(DiscoveryCatalogue, catalogue),
        span.isolate,
        // The run's context holds what its handlers need, which `Tool.Any` cannot say.
        Effect.provideContext(context.services) as <A, E>(
          effect: Effect.Effect<A, E, unknown>,
        ) => Effect.Effect<A, E>,
      ),
    ).pipe(
      Effect.exit,
      Effect.tap(() => {
        inside.closed = true;
        return broker?.close ?? Effect.void;
      }),
      Effect.map((exit) =>
        classifyExit(call.tool, context.definition.toolkit.tools, declared.callId, exit),
      ),
      Effect.flatMap((one) =>
        declared.parentCallId === undefined
          ? Effect.succeed(one)
          : captureFailure(call.tool, declared.callId, one),
      ),
      Effect.map((one) => outcomeInside(inside, one)),
    ),
  );
  return { outcome, startedAt, endedAt: yield* durability.now };
});
