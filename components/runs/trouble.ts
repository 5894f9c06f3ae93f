/** The calls that somebody looks for first: what failed, was refused, is in doubt or waits. Pure. */
import type { CallState } from "#lib/contract/status.ts";
import type { ToolCallView } from "#lib/contract/run-views.ts";

const troubles: Record<CallState, boolean> = {
  queued: false,
  waiting: true,
  running: false,
  succeeded: false,
  failed: true,
  "denied-by-person": true,
  "denied-by-policy": true,
  expired: true,
  aborted: true,
  unknown: true,
  "not-executed": true,
};

/** Whether any of these calls is one. */
export const hasTrouble = (calls: ReadonlyArray<{ readonly state: CallState }>): boolean =>
  calls.some(({ state }) => troubles[state]);

/** Those calls of a batch, and the calls they were made by; of a call that made others, those among them. */
export const troubleOf = (calls: ReadonlyArray<ToolCallView>): ReadonlyArray<ToolCallView> =>
  calls.flatMap((call) => {
    if (call.inner === undefined) return troubles[call.state] ? [call] : [];
    const inner = call.inner.filter(({ state }) => troubles[state]);
    return troubles[call.state] || inner.length > 0 ? [{ ...call, inner }] : [];
  });
