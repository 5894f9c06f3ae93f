import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";

/** What the visibility policy is told. `input` is the run's input as the caller wrote it: decode it first. */
export interface ToolVisibilityRequest {
  readonly threadId: string;
  readonly runId: string;
  /** 1 for the first turn of the run. */
  readonly turn: number;
  readonly input: unknown;
  /** Every registered tool, in the order of the toolkit. */
  readonly toolNames: ReadonlyArray<string>;
}

/**
 * Decides which registered tools a run may see at all. Optional: without it there is no filter.
 * An empty list hides every tool. A durable host captures the service, and also its absence, when it is
 * built; what a worker has in its own context changes nothing. Set-up failures and requirements belong in
 * the host's Layer, so the operation itself cannot fail.
 *
 * ```ts
 * Layer.succeed(RunToolVisibility, {
 *   visible: ({ toolNames }) => Effect.succeed(toolNames.filter((name) => name !== "delete_record")),
 * })
 * ```
 */
export class RunToolVisibility extends Context.Service<
  RunToolVisibility,
  {
    /** The names that are eligible. Names that are not registered are ignored. */
    readonly visible: (request: ToolVisibilityRequest) => Effect.Effect<ReadonlyArray<string>>;
  }
>()("effect-agent/tool-exposure/RunToolVisibility") {}
