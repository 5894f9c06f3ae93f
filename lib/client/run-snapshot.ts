/** A run as the console holds it: the server's view, and what only the live events carry. */
import type { RunDetail, ToolCallView } from "../contract/run-views.ts";

/** The last preliminary values of one running call. */
export interface CallProgress {
  /** At most 50, oldest first; `index` counts from 0 within the call. */
  readonly values: ReadonlyArray<{
    readonly index: number;
    readonly at: number;
    readonly value: unknown;
  }>;
  /** Values that the server dropped or that are no longer kept here. */
  readonly dropped: number;
}

export interface RunSnapshot {
  readonly detail: RunDetail;
  readonly progress: Readonly<Record<string, CallProgress>>;
  /** Text of a turn that is still being written, by turn number. */
  readonly drafts: Readonly<Record<string, string>>;
  /** The turn a model request is open for, if any. */
  readonly asking: number | null;
}

/** A call is known by turn and call id: the id alone repeats between turns (T-17). */
export const callKey = (turn: number, callId: string): string => `${turn}\u0000${callId}`;

export const freshSnapshot = (detail: RunDetail): RunSnapshot => ({
  detail,
  progress: {},
  drafts: {},
  asking: null,
});

/** The calls of a run in declaration order. */
export const callsOf = (detail: RunDetail): ReadonlyArray<ToolCallView> =>
  detail.turnViews.flatMap((turn) => turn.calls);
