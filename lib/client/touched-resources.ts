/** Which reads an event makes old. Total over the event kinds: a new kind does not compile without its row. */
import type { LoggedEvent, RunEventKind } from "../contract/events.ts";

/** The first word of a query's key. */
export type Resource =
  | "counts"
  | "run"
  | "runs"
  | "records"
  | "approval"
  | "approvals"
  | "unknown"
  | "unknowns"
  | "denials"
  | "diagnostics"
  | "obligations"
  | "audit";

const row = ["run", "runs"] as const;
const asked = [...row, "counts", "approval", "approvals", "obligations"] as const;
const doubt = [...row, "counts", "unknown", "unknowns", "obligations"] as const;
const denied = [...row, "counts", "denials", "approval"] as const;
/** An approval card shows the effect of its own call and the states of its batch. */
const moved = ["run", "approval"] as const;
const ended = [
  ...row,
  "counts",
  "approvals",
  "approval",
  "obligations",
  "diagnostics",
  "unknowns",
] as const;

const touched: Record<RunEventKind, ReadonlyArray<Resource>> = {
  RunQueued: [...row, "counts", "obligations"],
  RunStarted: row,
  AttemptStarted: [...row, "obligations"],
  // Both move the time of the next attempt, which only the run's explanation and what is owed show.
  AttemptPutOff: ["run", "obligations"],
  RunWoken: ["run", "obligations", "audit"],
  // Progress and text are live only: reading again would bring nothing.
  ModelRequested: [],
  ModelText: [],
  ToolProgress: [],
  TurnRecorded: [...row, "records"],
  ToolCallDeclared: row,
  ToolCallStarted: moved,
  StepRecorded: ["run", "records"],
  ToolCallSucceeded: [...moved, "records"],
  ToolCallFailed: [...moved, "records", "diagnostics"],
  ToolCallDenied: denied,
  ToolCallNotExecuted: moved,
  ToolCallUnknown: [...doubt, "approval"],
  // Where the tool's rule lets the answer settle the call, no other event may say so.
  UnknownProbed: [...doubt, "audit"],
  UnknownResolved: [...doubt, "audit"],
  ApprovalRequested: asked,
  ApprovalDecided: [...asked, "audit"],
  ApprovalCounted: ["approval", "audit"],
  ApprovalLookedAt: ["approval"],
  ApprovalExtended: [...asked, "audit"],
  ApprovalDelivered: ["run", "approval"],
  AuthorizationCheckFailed: [...denied, "diagnostics"],
  DenialAcknowledged: ["counts", "denials", "audit"],
  AbortRequested: [...row, "audit"],
  RunSuspended: [...row, "counts", "obligations"],
  RunCompleted: ended,
  RunFailed: ended,
  RunAborted: ended,
  RunInterrupted: row,
  UnknownEvent: row,
};

/** Resources that are kept per id, and the id that an event names. */
const idOf = (logged: LoggedEvent, resource: Resource): string | undefined => {
  const { event } = logged;
  if (resource === "run" || resource === "records") return logged.runId;
  if (resource === "approval" && "requestId" in event) return event.requestId;
  if (resource === "unknown" && "unknownId" in event) return event.unknownId;
  return undefined;
};

/** Keys (or beginnings of keys) of the reads that are old after the event. */
export const touchedBy = (logged: LoggedEvent): ReadonlyArray<ReadonlyArray<string>> =>
  touched[logged.event._tag].map((resource) => {
    const id = idOf(logged, resource);
    return id === undefined ? [resource] : [resource, id];
  });
