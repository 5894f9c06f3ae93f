/** Which submission a thread goes on with; the memory twin of `submission_can_go_on` and its kin in the migrations. */
import { silentSeconds } from "../worker-silence.ts";
import type { MemoryRun, MemoryTables } from "./MemoryStore.ts";
import { keyOf } from "./MemoryStore.ts";
import { approvalsOf, unknownsOf } from "./project.ts";

export const runsOf = (tables: MemoryTables, tenantId: string, threadId: string) =>
  [...tables.runs.values()].filter((run) => run.tenantId === tenantId && run.threadId === threadId);

/** Whether a submission could go on now, leaving its place in the queue aside (A-06, DU-07). */
export const canGoOn = (tables: MemoryTables, run: MemoryRun, now: number): boolean => {
  switch (run.state) {
    case "ready":
      return run.dueAt <= now;
    case "running":
      return true;
    case "waiting": {
      const rows = approvalsOf(tables, run);
      return (
        rows.every((row) => row.state !== "pending") &&
        rows.some((row) => !row.delivered && row.state !== "withdrawn")
      );
    }
    case "unknown": {
      const rows = unknownsOf(tables, run).filter((row) => !row.afterSettlement);
      return rows.every((row) => row.state === "resolved") && rows.some((row) => !row.delivered);
    }
    case "settled":
      return false;
  }
};

/** Whether an abort asks the submission to go on now, whatever its place (DU-12). */
export const isToAbort = (run: MemoryRun, now: number): boolean => {
  const { abort } = run;
  if (run.state === "settled" || abort === undefined) return false;
  if (run.state !== "ready") return !abort.delivered;
  if (run.dueAt <= now) return true;
  return (
    !abort.delivered && (run.postponedReason === undefined || abort.requestedAt >= run.stateSince)
  );
};

/** FIFO per thread (DU-15): an earlier submission holds the queue until it is settled, or parked on a doubt. */
export const isAtHead = (tables: MemoryTables, run: MemoryRun): boolean =>
  runsOf(tables, run.tenantId, run.threadId).every(
    (earlier) =>
      earlier.queueSequence >= run.queueSequence ||
      earlier.state === "settled" ||
      (earlier.state === "unknown" && earlier.unknownPolicy === "park"),
  );

/** What the thread goes on with: what runs already, then what is to end, then the head of the queue. */
export const nextOf = (
  tables: MemoryTables,
  tenantId: string,
  threadId: string,
  now: number,
): MemoryRun | undefined => {
  const open = runsOf(tables, tenantId, threadId)
    .filter((run) => run.state !== "settled")
    .toSorted((a, b) => a.queueSequence - b.queueSequence);
  return (
    open.find((run) => run.state === "running") ??
    open.find((run) => isToAbort(run, now)) ??
    open.find((run) => canGoOn(tables, run, now) && isAtHead(tables, run))
  );
};

const isOwnerGone = (tables: MemoryTables, run: MemoryRun, now: number): boolean => {
  const thread = tables.threads.get(keyOf(run.tenantId, run.threadId));
  const worker = tables.workers.get(thread?.workerId ?? "");
  return worker === undefined || worker.stopped || worker.heartbeatAt < now - silentSeconds * 1_000;
};

/** Whether somebody should look at the run's thread; one whose owner lives waits for it, at most 20 s. */
export const isDue = (tables: MemoryTables, run: MemoryRun, now: number): boolean => {
  if (run.state === "running") return run.dueAt <= now || isOwnerGone(tables, run, now);
  const isDriven = runsOf(tables, run.tenantId, run.threadId).some(
    (other) => other.state === "running",
  );
  if (isDriven) return false;
  return isToAbort(run, now) || (canGoOn(tables, run, now) && isAtHead(tables, run));
};
