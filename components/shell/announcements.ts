/** What the one live region of a page says about a batch of events; nothing for the small steps (C106). */
import type { LoggedEvent, RunEventKind } from "#lib/contract/events.ts";

const said: Partial<Record<RunEventKind, readonly [one: string, many: string]>> = {
  ApprovalRequested: ["new approval", "new approvals"],
  ApprovalDecided: ["approval decided", "approvals decided"],
  ApprovalCounted: ["approval given, more needed", "approvals given, more needed"],
  ToolCallUnknown: ["effect in doubt", "effects in doubt"],
  UnknownResolved: ["effect resolved", "effects resolved"],
  RunCompleted: ["run completed", "runs completed"],
  RunFailed: ["run failed", "runs failed"],
  RunAborted: ["run aborted", "runs aborted"],
};

export const wordsFor = (events: ReadonlyArray<LoggedEvent>): string | undefined => {
  const parts = Object.entries(said).flatMap(([kind, [one, many]]) => {
    const count = events.filter((event) => event.event._tag === kind).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return parts.length === 0 ? undefined : parts.join(", ");
};
