/** Lists, badges and cards after one event: what can be said at once, before they are read again. */
import type { LoggedEvent, RunEvent } from "../contract/events.ts";
import type { RunState } from "../contract/status.ts";
import type { ApprovalListItem } from "../contract/approval-views.ts";
import type { RunListItem } from "../contract/run-views.ts";
import type { Counts } from "../contract/shell-views.ts";

const settledStates: ReadonlySet<RunState> = new Set(["completed", "failed", "aborted"]);

/** The run's state after an event, where the event says it. */
export const runStateAfter = (event: RunEvent): RunState | undefined => {
  switch (event._tag) {
    case "RunQueued":
      return "queued";
    case "RunStarted":
    case "AttemptStarted":
      return "running";
    case "RunSuspended":
      return event.waitingFor === "approval" ? "waiting" : "unknown";
    case "RunCompleted":
      return "completed";
    case "RunFailed":
      return "failed";
    case "RunAborted":
      return "aborted";
    default:
      // Kinds about calls and people do not move the run's own state.
      return undefined;
  }
};

const atLeastZero = (count: number): number => Math.max(0, count);

/** The badges after an event that is newer than they are. */
export const applyToCounts = (counts: Counts, logged: LoggedEvent): Counts => {
  if (logged.sequence <= counts.asOf) return counts;
  const { event } = logged;
  const next = { ...counts, asOf: logged.sequence };
  switch (event._tag) {
    case "RunQueued":
      return { ...next, activeRuns: counts.activeRuns + 1 };
    case "RunCompleted":
    case "RunFailed":
    case "RunAborted":
      return { ...next, activeRuns: atLeastZero(counts.activeRuns - 1) };
    case "ApprovalRequested":
      return { ...next, pendingApprovals: counts.pendingApprovals + 1 };
    case "ApprovalDecided":
      return { ...next, pendingApprovals: atLeastZero(counts.pendingApprovals - 1) };
    case "ToolCallUnknown":
      return { ...next, openUnknowns: counts.openUnknowns + 1 };
    case "UnknownResolved":
      return { ...next, openUnknowns: atLeastZero(counts.openUnknowns - 1) };
    case "AuthorizationCheckFailed":
      return { ...next, openDenials: counts.openDenials + 1 };
    case "ToolCallDenied":
      return event.by === "policy" ? { ...next, openDenials: counts.openDenials + 1 } : next;
    case "DenialAcknowledged":
      return { ...next, openDenials: atLeastZero(counts.openDenials - 1) };
    default:
      // The badges count only what the cases above open and close.
      return next;
  }
};

/** A run's row after an event of that run. */
export const applyToRunRow = (row: RunListItem, logged: LoggedEvent): RunListItem => {
  if (row.runId !== logged.runId) return row;
  const { event } = logged;
  const state = runStateAfter(event) ?? row.state;
  const settledAt = settledStates.has(state) ? (row.settledAt ?? logged.at) : row.settledAt;
  const startedAt = row.startedAt ?? (state === "running" ? logged.at : null);
  const failureTag = event._tag === "RunFailed" ? event.failure.errorTag : row.failureTag;
  return { ...row, state, settledAt, startedAt, failureTag };
};

/** An approval's row after an event about that request; names who decided (C008, C022). */
export const applyToApprovalRow = <Row extends ApprovalListItem>(
  row: Row,
  logged: LoggedEvent,
): Row => {
  const { event } = logged;
  if (!("requestId" in event) || event.requestId !== row.requestId) return row;
  if (event._tag === "ApprovalDecided") {
    return { ...row, state: event.decision, decidedAt: logged.at, decidedBy: event.actor.name };
  }
  if (event._tag === "ApprovalExtended") return { ...row, expiresAt: event.expiresAt };
  return row;
};
