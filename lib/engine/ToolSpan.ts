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

/** Opens the span; undefined where the tracer cannot. */
export const openToolSpan = (
  context: RunContext,
  call: ReadyCall,
): Effect.Effect<Tracer.Span | undefined> => {
  const { declared } = call.evidence;
  return Effect.makeSpan(`execute_tool ${declared.toolName}`, {
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
};

/**
 * What the spans of a handler are children of. Not the span itself: whoever annotates
 * the current span with parameters or results would write them on this one (TE-02).
 */
export const parentFor = (span: Tracer.Span | undefined): Tracer.AnySpan | undefined =>
  span === undefined
    ? undefined
    : Tracer.externalSpan({
        spanId: span.spanId,
        traceId: span.traceId,
        sampled: span.sampled,
      });

/** Closes the span with the outcome's classification. */
export const closeToolSpan = (
  span: Tracer.Span | undefined,
  call: ReadyCall,
  outcome: CallOutcome,
): Effect.Effect<void> =>
  Effect.clockWith((clock) =>
    Effect.suspend(() => {
      const handling = handlingOf(call, outcome);
      if (span !== undefined) {
        if (outcome._tag !== "interrupted") span.attribute(toolAttribute.outcome, outcome._tag);
        if (handling !== undefined) span.attribute(toolAttribute.failureHandling, handling);
        span.end(clock.currentTimeNanosUnsafe(), Exit.void);
      }
      // Interruption alone is no failure of the tool: no log, no classification (TE-03).
      return handling === undefined
        ? Effect.void
        : Effect.logWarning("Tool call failed").pipe(
            Effect.annotateLogs({
              [toolAttribute.failureHandling]: handling,
              [toolAttribute.outcome]: outcome._tag,
            }),
          );
    }),
  ).pipe(Effect.catchCause(() => Effect.void));
