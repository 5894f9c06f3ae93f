/** How long a call queued, waited for people and ran; pure. */
import { durationText } from "#components/ui/durations.ts";
import { type CallSpan, callEnd } from "#components/timeline/call-end.ts";
import type { ToolCallView } from "#lib/contract/run-views.ts";

type TimedCall = CallSpan &
  Pick<ToolCallView, "declaredAt" | "requestedAt" | "decidedAt" | "startedAt">;

export interface CallTimes {
  /** Declared and not started, without the wait for a person; of a call that broke, with the time it ran. */
  readonly queuedMillis: number;
  /** Between asking for approval and its decision; null when nobody was asked. */
  readonly personMillis: number | null;
  /** Null when it never started. */
  readonly ranMillis: number | null;
  /** Only the longest that it can have run is known: its end is in doubt. */
  readonly ranAtMost: boolean;
  readonly open: "queued" | "person" | "running" | "none";
}

export const callTimes = (call: TimedCall, now: number): CallTimes => {
  const end = callEnd(call);
  const person =
    call.requestedAt === null
      ? null
      : Math.max(0, (call.decidedAt ?? end ?? now) - call.requestedAt);
  const startOrEnd = call.startedAt ?? end ?? now;
  const queued = Math.max(0, startOrEnd - call.declaredAt - (person ?? 0));
  const ran = call.startedAt === null ? null : Math.max(0, (end ?? now) - call.startedAt);
  const open =
    end !== null
      ? "none"
      : call.startedAt !== null
        ? "running"
        : call.requestedAt !== null && call.decidedAt === null
          ? "person"
          : "queued";
  const ranAtMost = call.endedAt === null && end !== null;
  return { queuedMillis: queued, personMillis: person, ranMillis: ran, ranAtMost, open };
};

/** How long it ran, in words. */
export const ranText = (call: CallSpan, { ranAtMost, ranMillis }: CallTimes): string => {
  if (ranMillis !== null) return `ran ${ranAtMost ? "at most " : ""}${durationText(ranMillis)}`;
  return call.broke === true ? "broke while it ran" : "never started";
};
