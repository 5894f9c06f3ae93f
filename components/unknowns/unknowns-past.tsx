"use client";
import Link from "next/link";
import { Empty } from "#components/feedback/empty.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { PastQueue } from "#components/shell/past-queue.tsx";
import { callStateLook } from "#components/status/call-state.ts";
import { StatusBadge } from "#components/status/status-badge.tsx";
import { countOf } from "#components/ui/durations.ts";
import { Age } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { UnknownsMoment } from "#lib/contract/http/moments.ts";
import { reasonText } from "./reason-text.ts";

/** The effects in doubt as they were after an event. Nothing can be resolved. */
export default function UnknownsPast({ at }: { at: number }) {
  const { api } = useConsole();
  return (
    <PastQueue
      title="Unknowns as they were"
      loading="the doubts as they were"
      queryKey={keys.unknownsAt(at)}
      read={(signal) => api.unknownsAt(at, signal)}
    >
      {(then) => <Doubts then={then} />}
    </PastQueue>
  );
}

function Doubts({ then }: { then: UnknownsMoment }) {
  return (
    <div className="min-h-0 flex-1 overflow-auto bg-panel">
      {then.items.length === 0 ? (
        <Empty kind="nothing-matches" title="No effect was in doubt then">
          After this event the outcome of every call that had started was known, or the call was
          still running.
        </Empty>
      ) : (
        <ul aria-label="Effects that were in doubt">
          {then.items.map((row) => (
            <li key={row.unknownId} className="border-b border-line px-4 py-2 text-table">
              <span className="flex items-center gap-2">
                <StatusBadge look={callStateLook.unknown} compact />
                <code className="min-w-0 truncate font-semibold">
                  <VisibleText text={row.toolName} line />
                </code>
                <span className="ml-auto text-soft">
                  <Age at={row.unknownAt} />
                </span>
              </span>
              <span className="mt-0.5 block truncate">
                <VisibleText text={row.runTitle} line />
              </span>
              <span className="mt-0.5 flex flex-wrap gap-x-2 text-soft">
                {reasonText(row.reason)}; the destination had been asked{" "}
                {countOf(row.probes, "time")}
                <Link
                  href={`/runs/${encodeURIComponent(row.runId)}?at=${then.sequence}`}
                  className="text-active underline underline-offset-2"
                >
                  the run as it was then
                </Link>
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
