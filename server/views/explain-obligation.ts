/** What holds an unsettled submission up, how bad that is, and what recovery would do (OP-11, OP-12): pure. */
import { obligationSeverity } from "#lib/contract/obligation-age.ts";
import type { ObligationView } from "#lib/contract/obligation-views.ts";

export interface ObligationToExplain {
  readonly state: "ready" | "running" | "waiting" | "unknown";
  /** In this state since, and now: milliseconds of the database's clock. */
  readonly since: number;
  readonly now: number;
  readonly attempts: number;
  readonly pendingApprovals: number;
  readonly openUnknowns: number;
  /** Why the last attempt was put off, if it was. */
  readonly postponedReason: string | null;
  /** When a `ready` one may be claimed, where that is later than now. */
  readonly dueAt: number | null;
  readonly abortRequested: boolean;
}

/** No backoff is longer: whatever is due later than this waits for a person and for no clock (after a restore). */
const heldSeconds = 30 * 86_400;

export const isHeld = (one: {
  readonly state: string;
  readonly dueAt: number | null;
  readonly now: number;
}): boolean =>
  one.state === "ready" && one.dueAt !== null && (one.dueAt - one.now) / 1_000 > heldSeconds;

type Blocker = ObligationView["blocker"];

const blockerOf = (one: ObligationToExplain, severity: ObligationView["severity"]): Blocker => {
  switch (one.state) {
    case "waiting":
      return "approval";
    case "unknown":
      return "unknown";
    case "ready":
      if (isHeld(one) && !one.abortRequested) return "held";
      return severity === "ok" ? "none" : "ready-aged";
    case "running":
      return severity === "ok" ? "none" : "running-aged";
  }
};

const counted = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`;

const explanationOf = (one: ObligationToExplain): string => {
  if (one.abortRequested)
    return "An abort is stored. The next attempt records open calls as unknown and settles the run as aborted.";
  switch (one.state) {
    case "waiting":
      return one.pendingApprovals > 0
        ? `${counted(one.pendingApprovals, "approval is", "approvals are")} pending. Once all are decided the same batch goes on, without asking the model again.`
        : "Every approval is decided. The next attempt goes on with the same batch.";
    case "unknown":
      return one.openUnknowns > 0
        ? `${counted(one.openUnknowns, "effect is", "effects are")} in doubt. Nothing is repeated until a person has resolved ${one.openUnknowns === 1 ? "it" : "each of them"}.`
        : "Every effect in doubt is resolved. The next attempt applies the resolutions.";
    case "ready":
      if (isHeld(one))
        return `It is held until somebody wakes or aborts it. ${one.postponedReason ?? ""}`.trim();
      if (one.postponedReason !== null)
        return `The last attempt was put off: ${one.postponedReason} It starts again by itself.`;
      return one.attempts === 0
        ? "It has not started yet: a worker takes it when the thread is free."
        : "A worker takes it again and goes on from what is recorded.";
    case "running":
      return "A worker drives it. If that worker is lost, another goes on from the records: finished calls are reused, started ones without a result become unknown.";
  }
};

export const explainObligation = (
  one: ObligationToExplain,
): Pick<ObligationView, "blocker" | "severity" | "explanation"> => {
  const severity = obligationSeverity(one.since, one.now);
  return { severity, blocker: blockerOf(one, severity), explanation: explanationOf(one) };
};
