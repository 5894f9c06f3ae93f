/**
 * The broker of one running call (CM-01): calls that its program makes go through
 * the stages of the model's own calls, one call at a time, under the outer call's
 * life. What was recorded by an earlier execution is met again by its number and
 * never made twice.
 */
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Scope from "effect/Scope";
import type { RunRecord } from "#lib/contract/records.ts";
import { type CallEvidence, isInDoubt } from "#lib/durable/run-state.ts";
import {
  ProgrammaticToolBudgetExceeded,
  ProgrammaticToolNotAllowed,
} from "#lib/broker/broker-error.ts";
import {
  ineligible,
  maxProgrammaticAttempts,
  programmaticToolsOf,
} from "#lib/broker/programmatic-tools.ts";
import type { ToolBrokerShape } from "#lib/tool-broker.ts";
import type { CallInside } from "./call-inside.ts";
import { eligibleTools } from "./expose-tools.ts";
import { type InnerCallState, performInnerCall } from "./inner-call.ts";
import type { InnerAllowance } from "./inner-allowance.ts";
import { unknownRecord } from "./recover-calls.ts";
import type { RunContext } from "./RunContext.ts";
import { RunDurability } from "./RunDurability.ts";
import type { ReadyCall } from "./run-handler.ts";
import { countsInner } from "./turn-plan.ts";

export interface InnerCalls {
  readonly service: ToolBrokerShape;
  /** Interrupts what still runs and waits for it; the handler has ended. */
  readonly close: Effect.Effect<void>;
  /**
   * Undefined where every inner call has a result. Otherwise the records of doubts
   * that none holds yet, which may be none.
   */
  readonly doubts: () => ReadonlyArray<RunRecord> | undefined;
}

const interruptedDoubt =
  "The call that made this one ended while it was running; it was interrupted and nothing says whether its effect happened.";
const unmetDoubt =
  "It had started when its process was lost; the program that ran again did not make it again, and no result was recorded.";

/** A name as it can be stored. One that is too long is no tool's name, and stays none when it is cut. */
const storableName = (toolName: string): string =>
  toolName.length <= 128 ? toolName : `${toolName.slice(0, 120)} [cut]`;

/** The broker for one execution of `outer`; undefined where its tool may call nothing. */
export const makeInnerCalls = Effect.fnUntraced(function* (
  context: RunContext,
  turn: number,
  outer: ReadyCall,
  inside: CallInside,
  allowance: InnerAllowance,
): Effect.fn.Return<InnerCalls | undefined, never, RunDurability> {
  const allowed = programmaticToolsOf(outer.tool);
  if (allowed === undefined) return undefined;
  // What a program provides around its calls must not replace where they are recorded.
  const durability = yield* RunDurability;
  const scope = yield* Scope.make("parallel");
  const { inner } = outer.evidence;
  const state: InnerCallState = {
    context,
    turn,
    outer,
    inside,
    allowance,
    maxCalls: allowed.maxCalls,
    recorded: new Map(inner.map((call) => [call.declared.index, call])),
    started: inner.filter(countsInner).length,
    open: new Map(inner.filter(isInDoubt).map((call) => [call.declared.callId, call])),
    hasRecordedDoubt: false,
  };
  let next = 0;
  const invoke: ToolBrokerShape["invoke"] = (request) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const about = { toolName: storableName(request.toolName), sequenceIndex: next };
        if (inside.closed)
          return Effect.fail(
            new ProgrammaticToolNotAllowed({
              ...about,
              reason: "call-ended",
              message: `The call of ${outer.tool.name} has ended; it can make no more calls.`,
            }),
          );
        if (next >= maxProgrammaticAttempts)
          return Effect.fail(
            new ProgrammaticToolBudgetExceeded({
              ...about,
              dimension: "attempts",
              limit: maxProgrammaticAttempts,
              message: `One call may ask for at most ${maxProgrammaticAttempts} calls, refused ones included.`,
            }),
          );
        next += 1;
        return performInnerCall(state, about, request.encodedArguments).pipe(
          Effect.provideService(RunDurability, durability),
          // In the outer call's scope, so that no fiber a program forks outlives the call.
          Effect.forkIn(scope),
          Effect.flatMap((fiber) =>
            Effect.onInterrupt(restore(Fiber.join(fiber)), () => Fiber.interrupt(fiber)),
          ),
        );
      }),
    );
  return {
    service: {
      invoke,
      toolNames: Effect.map(eligibleTools(context, turn), (visible) =>
        allowed.toolNames.filter(
          (name) =>
            ineligible(outer.tool, name, context.definition.toolkit.tools, visible) === undefined,
        ),
      ),
    },
    close: Scope.close(scope, Exit.void),
    doubts: () =>
      state.hasRecordedDoubt || state.open.size > 0
        ? [...state.open.values()].map((call) => doubtOf(state, call))
        : undefined,
  };
});

const doubtOf = ({ context, recorded, turn }: InnerCallState, call: CallEvidence): RunRecord =>
  // Not prepared again since the records were read: this execution never came to it.
  recorded.get(call.declared.index)?.preparations === call.preparations
    ? unknownRecord(context, turn, call, "process-lost", unmetDoubt, false)
    : unknownRecord(context, turn, call, "interrupted", interruptedDoubt, false);
