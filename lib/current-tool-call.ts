/**
 * Who a running handler is: the identity of the tool call it serves.
 */
import * as Context from "effect/Context";

/** Identity of the call a handler runs for. */
export interface ToolCallIdentity {
  /**
   * Stays the same for every attempt at this one call, so an external system can
   * recognise a repetition (`DU-05`). Never shared by two calls.
   */
  readonly idempotencyKey: string;
  readonly threadId: string;
  readonly runId: string;
  /** Turn id or number of the response that declared the call. */
  readonly turn: number;
  /** The provider's call id, unique within its run (`T-17`). */
  readonly callId: string;
  /** 1 for the first time a handler is started for this call, counting up. */
  readonly attempt: number;
  /** Present for a call that a program made inside another one; its own key and id are derived from these (`CM-02`). */
  readonly programmatic?: { readonly parentToolCallId: string; readonly sequenceIndex: number };
}

/**
 * The call the current handler serves, `undefined` outside of one. The engine
 * provides it around every handler; handlers read it with
 * `yield* CurrentToolCall`.
 */
export const CurrentToolCall = Context.Reference<ToolCallIdentity | undefined>(
  "effect-agent/current-tool-call/CurrentToolCall",
  { defaultValue: () => undefined },
);
