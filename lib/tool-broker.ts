/**
 * Calls from inside a call: a tool's handler runs other tools of its agent under
 * the same rules as the model's own calls (`CM-01`).
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import {
  type ProgrammaticToolError,
  ProgrammaticToolNotAllowed,
} from "#lib/broker/broker-error.ts";
import type { Json } from "#lib/contract/json/json.ts";

export {
  ProgrammaticReplayMismatch,
  ProgrammaticToolAuthorizationDenied,
  ProgrammaticToolBudgetExceeded,
  ProgrammaticToolError,
  ProgrammaticToolFailed,
  ProgrammaticToolNotAllowed,
  ProgrammaticToolParametersInvalid,
} from "#lib/broker/broker-error.ts";
export {
  defaultMaxProgrammaticCalls,
  maxProgrammaticAttempts,
  ProgrammaticTools,
  type ProgrammaticToolsOptions,
} from "#lib/broker/programmatic-tools.ts";

/** One inner call, as a program asks for it. */
export interface ProgrammaticCall {
  readonly toolName: string;
  /** JSON in the tool's own encoding; absent: `{}`. Untrusted, bounded and decoded like a model's. */
  readonly encodedArguments?: unknown;
}

/** Makes the inner calls of one outer call, under the same rules as the model's own (CM-01). */
export interface ToolBrokerShape {
  /** What may be called now: the allowlist without what visibility or approval keeps from programs (`X-20`). */
  readonly toolNames: Effect.Effect<ReadonlyArray<string>>;
  /**
   * Makes one inner call and gives its encoded result, `null` for a tool that
   * returns nothing (`CM-04`), bounded like any result (`T-18`).
   *
   * Checked in this order: allowlist and eligibility, arguments, the host's policy,
   * budgets; then the handler runs (`CM-03`). Each refusal and each declared
   * failure is a typed failure of this effect. A defect, an encoding failure, a
   * policy that cannot be asked and an effect in doubt are none: they end the outer
   * call, and the program cannot catch them.
   *
   * A call lives in its outer call: what still runs when the handler ends is
   * interrupted. A call that may have acted and has no result then puts its outer
   * call in doubt (`DU-04`), so give such tools their own time limits rather than
   * racing them.
   *
   * The broker numbers calls from 0 in the order in which `invoke` starts
   * (`CM-02`). A handler that may run again must make the same calls in the same
   * order: recorded results are met by number, tool and arguments.
   */
  readonly invoke: (call: ProgrammaticCall) => Effect.Effect<Json, ProgrammaticToolError>;
}

const unavailable: ToolBrokerShape = {
  toolNames: Effect.succeed([]),
  invoke: ({ toolName }) =>
    Effect.fail(
      new ProgrammaticToolNotAllowed({
        toolName: toolName.slice(0, 128),
        sequenceIndex: 0,
        reason: "not-in-allowlist",
        message: "Nothing can be called here: this is no handler of a tool with ProgrammaticTools.",
      }),
    ),
};

/**
 * The broker of the call that the current handler serves. The engine provides it
 * around every handler; outside of a tool with `ProgrammaticTools` it refuses
 * every call.
 *
 * ```ts
 * const broker = yield* ToolBroker;
 * const order = yield* broker.invoke({ toolName: "get_order", encodedArguments: { id: "W1" } });
 * ```
 */
export const ToolBroker = Context.Reference<ToolBrokerShape>(
  "effect-agent/tool-broker/ToolBroker",
  { defaultValue: () => unavailable },
);
