/**
 * Stages 5 and 6 for one call, once it holds a slot: prepare, run the handler,
 * settle. The preparation is durable before the handler can act (DU-01, DU-02),
 * and the result is durable before the slot is free again (DU-03).
 */
import * as Data from "effect/Data";
import * as Duration from "effect/Duration";
import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import type * as Tool from "effect/unstable/ai/Tool";
import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { cutValue } from "#lib/durable/record-events.ts";
import { idempotencyKeyOf, unknownIdOf } from "#lib/durable/derived-ids.ts";
import type { CallEvidence } from "#lib/durable/run-state.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { Json } from "#lib/contract/json/json.ts";
import * as Result from "effect/Result";
import { DiscoveryCatalogue } from "#lib/exposure/discovery/catalogue.ts";
import { selects } from "#lib/exposure/select.ts";
import { eligibleTools } from "./expose-tools.ts";
import { type CallOutcome, classifyExit, type HandlerFinal } from "./classify-exit.ts";
import { diagnose } from "./diagnose.ts";
import type { RunContext } from "./RunContext.ts";
import { type DurabilityError, RunDurability } from "./RunDurability.ts";
import {
  settledPropagated,
  settledReturned,
  settledSuccess,
  type SettlementBase,
} from "./settle-call.ts";
import { withToolSpan } from "./ToolSpan.ts";

/** Most progress events shown of one call: of what comes after them only the last is, with the number left out (T-08). */
const maxProgressEvents = 256;

/** Ends the batch: the run fails with this very cause once its siblings are finalised (B-08). */
export class BatchFailure extends Data.TaggedError("BatchFailure")<{
  readonly cause: Cause.Cause<unknown>;
  readonly kind: "tool-failure" | "defect";
  readonly callId: string;
}> {}

/** A call that authorization let through; only the gate makes one. */
export interface ReadyCall {
  readonly evidence: CallEvidence;
  readonly tool: Tool.Any;
  /** In the tool's own encoding; `handle` decodes it once more into the handler's type. */
  readonly effective: Json;
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

/** Runs one call to its recorded end. Fails only to end the whole batch. */
export const runCall = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
): Effect.Effect<void, DurabilityError | BatchFailure, RunDurability> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const durability = yield* RunDurability;
      const { declared } = call.evidence;
      const position = {
        tenantId: context.tenantId,
        runId: context.runId,
        turn,
        callId: declared.callId,
      };
      const identity = {
        idempotencyKey: idempotencyKeyOf(position),
        threadId: context.threadId,
        runId: context.runId,
        turn,
        callId: declared.callId,
        attempt: call.evidence.preparations + 1,
      };
      const catalogue = selects(call.tool) ? yield* searchable(context, turn) : undefined;
      const startedAt = yield* durability.now;
      if (declared.executionClass === "readonly") {
        yield* durability.emit({
          _tag: "ToolCallStarted",
          turn,
          callId: declared.callId,
          toolName: declared.toolName,
          attempt: context.attempt,
        });
      } else {
        yield* durability.record([
          {
            _tag: "ToolCallPrepared",
            runId: context.runId,
            turn,
            callId: declared.callId,
            toolName: declared.toolName,
            executionClass: declared.executionClass,
            parametersDigest: declared.parametersDigest,
            idempotencyKey: identity.idempotencyKey,
            attempt: context.attempt,
          },
        ]);
      }
      const outcome = yield* withToolSpan(context, call, (span) =>
        restore(
          runHandler(context, turn, call, durability.emit).pipe(
            Effect.provideService(CurrentToolCall, identity),
            Effect.provideService(DiscoveryCatalogue, catalogue),
            span.isolate,
            // The run's context holds what its handlers need, which `Tool.Any` cannot say.
            Effect.provideContext(context.services) as <A, E>(
              effect: Effect.Effect<A, E, unknown>,
            ) => Effect.Effect<A, E>,
          ),
        ).pipe(
          Effect.exit,
          Effect.map((exit) =>
            classifyExit(call.tool, context.definition.toolkit.tools, declared.callId, exit),
          ),
        ),
      );
      const endedAt = yield* durability.now;
      yield* settle(context, turn, call, outcome, { startedAt, endedAt });
    }),
  );

const settle = (
  context: RunContext,
  turn: number,
  call: ReadyCall,
  outcome: CallOutcome,
  times: { readonly startedAt: number; readonly endedAt: number },
): Effect.Effect<void, DurabilityError | BatchFailure, RunDurability> =>
  Effect.gen(function* () {
    const durability = yield* RunDurability;
    const { declared } = call.evidence;
    const position = {
      tenantId: context.tenantId,
      runId: context.runId,
      turn,
      callId: declared.callId,
    };
    const base: SettlementBase = {
      runId: context.runId,
      turn,
      callId: declared.callId,
      toolName: declared.toolName,
      failureMode: call.tool.failureMode,
      resultBytes: context.resultBytes,
      ...times,
    };
    switch (outcome._tag) {
      case "succeeded":
        return yield* durability.record([settledSuccess(base, outcome.result, outcome.selection)]);
      case "returned":
        return yield* durability.record([settledReturned(base, outcome.result, outcome.failure)]);
      case "propagated": {
        const diagnostic = diagnose(
          position,
          `failure-${call.evidence.preparations}`,
          declared.toolName,
          outcome.cause,
        );
        yield* durability.record(
          [settledPropagated(base, { ...outcome.failure, diagnosticId: diagnostic.diagnosticId })],
          [diagnostic],
        );
        return yield* new BatchFailure({
          cause: outcome.cause,
          kind: "tool-failure",
          callId: declared.callId,
        });
      }
      case "unsure":
        return yield* durability.record([
          {
            _tag: "ToolCallUnknown",
            runId: context.runId,
            turn,
            callId: declared.callId,
            toolName: declared.toolName,
            unknownId: unknownIdOf(position, call.evidence.preparations + 1),
            reason: "handler-unsure",
            detail: outcome.detail,
            afterSettlement: false,
          },
        ]);
      case "defect":
        // The run loop records what is in doubt together with the settlement, so that no crash falls between (DU-09).
        return yield* new BatchFailure({
          cause: outcome.cause,
          kind: "defect",
          callId: declared.callId,
        });
      case "interrupted":
        return yield* Effect.interrupt;
    }
  });

/** Bounds how long a batch may run: what is left of the run's active time (DU-16). */
export const remainingTime = (maxDurationMillis: number, usedMillis: number): Duration.Duration =>
  Duration.millis(Math.max(0, maxDurationMillis - usedMillis));
