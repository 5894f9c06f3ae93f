"use client";
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleStop, HeartCrack } from "lucide-react";
import { Empty } from "#components/feedback/empty.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { StatusBadge } from "#components/status/status-badge.tsx";
import type { StatusLook } from "#components/status/tone.ts";
import { countOf } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Age, At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { WorkerView } from "#lib/contract/agent-views.ts";

const stateLook: Record<WorkerView["state"], StatusLook> = {
  alive: { tone: "success", icon: CircleCheck, word: "alive", fill: "fill-solid" },
  silent: { tone: "attention", icon: HeartCrack, word: "silent", fill: "fill-hatch" },
  stopped: { tone: "neutral", icon: CircleStop, word: "stopped", fill: "fill-outline" },
};

/** Heartbeats are no events: this page looks again by itself. */
const lookAgainMillis = 5_000;

/** Processes, how many threads each drives, and when it was last heard of. */
export function WorkersPage() {
  const { api } = useConsole();
  const workers = useQuery({
    queryKey: keys.workers,
    queryFn: ({ signal }) => api.workers(signal),
    refetchInterval: lookAgainMillis,
  });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader
        title="Workers"
        aside={<span className="text-soft">Read again every 5 s.</span>}
      />
      <div className="min-h-0 flex-1 overflow-auto bg-panel">
        <QueryStates
          query={workers}
          loading={<SkeletonRows rows={4} height={53} label="workers" />}
        >
          {({ items }) =>
            items.length === 0 ? (
              <Empty kind="nothing-yet" title="No process drives threads">
                What is accepted stays stored and is driven when a process starts.
              </Empty>
            ) : (
              <ul aria-label="Workers">
                {items.map((worker) => (
                  <li
                    key={worker.workerId}
                    className="grid gap-x-4 gap-y-0.5 border-b border-line px-4 py-2 sm:grid-cols-[110px_minmax(0,1fr)_auto]"
                  >
                    <StatusBadge look={stateLook[worker.state]} />
                    <div className="min-w-0">
                      <p className="truncate">
                        <code>{worker.workerId}</code>{" "}
                        <span className="text-soft">
                          at <VisibleText text={worker.address} line />
                        </span>
                      </p>
                      <p className="text-table text-soft">
                        started <At at={worker.startedAt} />
                        {worker.lastTakeoverAt === null ? ", no takeover" : ", last takeover "}
                        {worker.lastTakeoverAt === null ? null : <At at={worker.lastTakeoverAt} />}
                      </p>
                    </div>
                    <p className="text-table text-soft sm:text-right">
                      drives {countOf(worker.threads, "thread")}
                      <br />
                      heard <Age at={worker.heartbeatAt} /> ago
                    </p>
                  </li>
                ))}
              </ul>
            )
          }
        </QueryStates>
      </div>
    </div>
  );
}
