/**
 * The span of one application tool call, with names only: no parameter, result
 * or error text ever becomes an attribute (TE-01, TE-02). A tracer or logger that
 * breaks changes nothing of the call (TE-04).
 */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Tracer from "effect/Tracer";
import type { FailureHandling } from "#lib/contract/status.ts";
import { toolAttribute } from "#lib/diagnostics/telemetry-attributes.ts";
import type { ReadyCall } from "./run-handler.ts";
import type { CallOutcome } from "./classify-exit.ts";
import type { RunContext } from "./RunContext.ts";

interface ToolSpan {
  /**
   * Runs the handler below the span without showing it the span itself: upstream
   * writes the raw parameters on whatever span is current when a handler starts.
   */
  readonly isolate: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;
}

const handlingOf = (call: ReadyCall, outcome: CallOutcome): FailureHandling | undefined => {
  switch (outcome._tag) {
    case "returned":
      return call.evidence.declared.parentCallId === undefined
        ? "returned-to-model"
        : "returned-to-caller";
    case "propagated":
    case "defect":
      return "propagated";
    case "succeeded":
    case "unsure":
    case "interrupted":
      return undefined;
  }
};

/** Opens the span, runs `body`, and closes the span with the outcome's classification. */
export const withToolSpan = <E, R>(
  context: RunContext,
  call: ReadyCall,
  body: (span: ToolSpan) => Effect.Effect<CallOutcome, E, R>,
): Effect.Effect<CallOutcome, E, R> =>
  Effect.gen(function* () {
    const { declared } = call.evidence;
    const span = yield* Effect.makeSpan(`execute_tool ${declared.toolName}`, {
      kind: "internal",
      attributes: {
        [toolAttribute.operationName]: "execute_tool",
        [toolAttribute.toolName]: declared.toolName,
        [toolAttribute.toolType]: "function",
        [toolAttribute.toolCallId]: declared.callId,
        [toolAttribute.agentName]: context.definition.id,
        [toolAttribute.conversationId]: context.threadId,
        [toolAttribute.executionClass]: declared.executionClass,
        [toolAttribute.failureMode]: call.tool.failureMode,
        ...(declared.parentCallId === undefined
          ? { [toolAttribute.invocationKind]: "model" }
          : {
              [toolAttribute.invocationKind]: "programmatic",
              [toolAttribute.parentCallId]: declared.parentCallId,
              [toolAttribute.sequenceIndex]: declared.index,
            }),
      },
    }).pipe(Effect.catchCause(() => Effect.undefined));
    const isolate = <A, E2, R2>(effect: Effect.Effect<A, E2, R2>): Effect.Effect<A, E2, R2> =>
      span === undefined
        ? effect
        : (Effect.provideService(
            effect,
            Tracer.ParentSpan,
            Tracer.externalSpan({
              spanId: span.spanId,
              traceId: span.traceId,
              sampled: span.sampled,
            }),
          ) as Effect.Effect<A, E2, R2>); // ParentSpan is an ambient reference, never a requirement of a handler
    const outcome = yield* body({ isolate });
    yield* close(span, call, outcome).pipe(Effect.catchCause(() => Effect.void));
    return outcome;
  });

const close = (
  span: Tracer.Span | undefined,
  call: ReadyCall,
  outcome: CallOutcome,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const handling = handlingOf(call, outcome);
    const now = yield* Effect.clockWith((clock) => clock.currentTimeNanos);
    if (span !== undefined) {
      if (outcome._tag !== "interrupted") span.attribute(toolAttribute.outcome, outcome._tag);
      if (handling !== undefined) span.attribute(toolAttribute.failureHandling, handling);
      span.end(now, Exit.void);
    }
    // Interruption alone is no failure of the tool: no log, no classification (TE-03).
    if (handling !== undefined) {
      yield* Effect.logWarning("Tool call failed").pipe(
        Effect.annotateLogs({
          [toolAttribute.failureHandling]: handling,
          [toolAttribute.outcome]: outcome._tag,
        }),
      );
    }
  });
