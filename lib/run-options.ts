/**
 * What a caller may change for one run, and the services a host installs for
 * every run: scheduling and authorization of tool calls.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { AgentToolAuthorizationCheckError } from "#lib/agent-error.ts";
import type { ApprovalResolverShape } from "#lib/approval/ApprovalResolver.ts";
import type { ExecutionClass } from "#lib/durable-step.ts";
import type { SchedulingOverride } from "#lib/scheduling/effective-concurrency.ts";

/**
 * What a policy sees of one call (`Z-02`). `input` and `call.parameters` are
 * encoded data the model and the caller wrote: decode them with the
 * application's schemas before trusting any field.
 */
export interface ToolAuthorizationRequest {
  readonly threadId: string;
  readonly runId: string;
  readonly turnId: string;
  /** 1 for the first turn of the run. */
  readonly turnNumber: number;
  /** The run's input, encoded. */
  readonly input: unknown;
  readonly call: {
    readonly toolCallId: string;
    readonly toolName: string;
    /** Encoded parameters; a copy, never the object a handler receives. */
    readonly parameters: unknown;
    readonly executionClass: ExecutionClass;
  };
  /** Present for a call made by a program inside another tool (`Z-11`). */
  readonly programmatic?: { readonly parentToolCallId: string; readonly sequenceIndex: number };
}

/**
 * `reason` goes to the model and to logs, so it must be safe there; `cause` is
 * private evidence for operators (`Z-04`).
 */
export type ToolAuthorizationDecision =
  | { readonly _tag: "allowed" }
  | { readonly _tag: "denied"; readonly reason: string; readonly cause?: unknown };

/** A policy with its own typed failures and requirements, as a run may pass one (`Z-08`). */
export interface ToolAuthorizationPolicy<out E = AgentToolAuthorizationCheckError, out R = never> {
  readonly authorize: (
    request: ToolAuthorizationRequest,
  ) => Effect.Effect<ToolAuthorizationDecision, E, R>;
}

/**
 * Decides whether an application tool call may execute (`Z-01`). Asked once per
 * executable call, in declaration order, after approval and before any handler of
 * the batch (`Z-03`). Answer `denied` only for an actual refusal; when the check
 * itself cannot be made, fail with `AgentToolAuthorizationCheckError` (`Z-06`).
 */
export class RunToolAuthorization extends Context.Service<
  RunToolAuthorization,
  ToolAuthorizationPolicy
>()("effect-agent/run-options/RunToolAuthorization") {
  /** Allows every call: what durable hosts install when nothing else is (`Z-09`). */
  static readonly allowAll: Layer.Layer<RunToolAuthorization> = Layer.succeed(
    RunToolAuthorization,
    {
      authorize: () => Effect.succeed({ _tag: "allowed" }),
    },
  );
}

/** Which tools must run alone in a batch (`S-02`). */
export interface ToolSchedulingPolicy {
  readonly toolRequiresSequential: (toolName: string) => boolean;
}

/**
 * The host's scheduling policy; by default no tool needs a barrier. A durable
 * host captures it when it is built, and a worker's own reference cannot replace
 * it (`S-04`); an ephemeral run reads it unless `RunOptions.scheduling` is given.
 */
export const RunToolScheduling = Context.Reference<ToolSchedulingPolicy>(
  "effect-agent/run-options/RunToolScheduling",
  {
    defaultValue: () => ({ toolRequiresSequential: () => false }),
  },
);

/** A run's own scheduling: a lower concurrency and its barriers. */
export interface RunSchedulingHook extends ToolSchedulingPolicy {
  readonly override: SchedulingOverride;
}

/**
 * Builds the `scheduling` option of a run. The override can only lower the
 * agent policy's concurrency (`S-01`); `toolRequiresSequential` puts a barrier
 * around every call of a tool it names (`S-02`).
 *
 * @param override `{ mode: "sequential" }` is 1; `max` is a whole number of at least 1.
 */
export const toRunSchedulingHook = (
  override: SchedulingOverride,
  toolRequiresSequential: (toolName: string) => boolean = () => false,
): RunSchedulingHook => ({ override, toolRequiresSequential });

/** Options of `AgentRuntime.run`, `stream` and `start`; `E` and `R` are those of `toolAuthorization`. */
export interface RunOptions<out E = never, out R = never> {
  /** Replaces the non-pinned exposed set before the first request (`X-15`). */
  readonly toolSelection?: { readonly toolNames: ReadonlyArray<string> };
  /** Overrides the host's `RunToolScheduling` for this run (`S-04`). */
  readonly scheduling?: RunSchedulingHook;
  /** Overrides the host's `RunToolAuthorization` for this run (`Z-08`). */
  readonly toolAuthorization?: ToolAuthorizationPolicy<E, R>;
  /** Decides approvals of this run in place of the provided `ApprovalResolver`. */
  readonly approval?: ApprovalResolverShape;
  /** Overrides the agent policy's bound on encoded results, in UTF-8 bytes; at least 256 (`T-18`). */
  readonly toolResultBounds?: { readonly maxBytes: number };
}
