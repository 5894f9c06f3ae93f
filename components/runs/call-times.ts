/** How long a call queued, waited for people and ran; pure. */
import type { ToolCallView } from "#lib/contract/run-views.ts";

type TimedCall = Pick<
  ToolCallView,
  "declaredAt" | "requestedAt" | "decidedAt" | "startedAt" | "endedAt"
>;

export interface CallTimes {
  /** Declared and not started, without the wait for a person. */
  readonly queuedMillis: number;
  /** Between asking for approval and its decision; null when nobody was asked. */
  readonly personMillis: number | null;
  /** Null when it never started. */
  readonly ranMillis: number | null;
  readonly open: "queued" | "person" | "running" | "none";
}

export const callTimes = (call: TimedCall, now: number): CallTimes => {
  const person =
    call.requestedAt === null
      ? null
      : Math.max(0, (call.decidedAt ?? call.endedAt ?? now) - call.requestedAt);
  const startOrEnd = call.startedAt ?? call.endedAt ?? now;
  const queued = Math.max(0, startOrEnd - call.declaredAt - (person ?? 0));
  const ran = call.startedAt === null ? null : Math.max(0, (call.endedAt ?? now) - call.startedAt);
  const open =
    call.endedAt !== null
      ? "none"
      : call.startedAt !== null
        ? "running"
        : call.requestedAt !== null && call.decidedAt === null
          ? "person"
          : "queued";
  return { queuedMillis: queued, personMillis: person, ranMillis: ran, open };
};
