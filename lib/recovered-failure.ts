/**
 * Failures that a run survived: a tool in `"return"` mode failed, or was called
 * with wrong arguments, and whoever called was told (F-16). A host that wants to
 * count or to report them observes them here.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type { FailureHandling } from "#lib/contract/status.ts";

/** One failed call whose run goes on; nothing in it is private evidence. */
export interface RecoveredFailure {
  readonly threadId: string;
  readonly runId: string;
  /** 1 for the first turn of the run. */
  readonly turn: number;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Who was told: the model, or the program that made the call. */
  readonly failureHandling: Exclude<FailureHandling, "propagated">;
  /** Tag of the declared failure, or `ToolParameterValidationError`; at most 256 bytes (DX-07). */
  readonly errorTag: string;
  /** Redacted, at most 16 KiB (DX-07). */
  readonly message: string;
}

/** What a host does with them. */
export interface RecoveredFailureObserverShape {
  /**
   * Told once the failure is recorded, and waited for, at most a second. How it
   * ends changes nothing: a defect, an interruption of its own or a late answer is
   * dropped.
   */
  readonly observe: (failure: RecoveredFailure) => Effect.Effect<void>;
}

/**
 * The host's observer; by default nobody observes. Told at most once of each
 * failure: a process that is lost between the record and the observer tells
 * nobody. A durable host captures it when it is built, as its other choices.
 */
export const RecoveredFailureObserver = Context.Reference<RecoveredFailureObserverShape>(
  "effect-agent/recovered-failure/RecoveredFailureObserver",
  { defaultValue: () => ({ observe: () => Effect.void }) },
);
