"use client";
import { useQueryClient } from "@tanstack/react-query";
import { AlarmClock, CircleAlert, CircleCheck, Clock } from "lucide-react";
import Link from "next/link";
import { useEffect, useRef } from "react";
import { ConfirmWithReason } from "#components/feedback/confirm-with-reason.tsx";
import { Empty } from "#components/feedback/empty.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { PagedList } from "#components/shell/paged-list.tsx";
import { useNow } from "#components/shell/use-now.ts";
import { usePages } from "#components/shell/use-pages.ts";
import { StatusBadge } from "#components/status/status-badge.tsx";
import type { StatusLook } from "#components/status/tone.ts";
import { cappedText, countOf, secondsText } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Age, At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import { steeringTruth } from "#lib/client/steering-truth.ts";
import type { ObligationView } from "#lib/contract/obligation-views.ts";
import { momentsPassed, obligationAt } from "./obligation-time.ts";

const severityLook: Record<ObligationView["severity"], StatusLook> = {
  ok: { tone: "neutral", icon: CircleCheck, word: "in time", fill: "fill-outline" },
  aging: { tone: "neutral", icon: Clock, word: "aging", fill: "fill-solid" },
  overdue: { tone: "attention", icon: CircleAlert, word: "overdue", fill: "fill-solid" },
};

const blockerText: Record<ObligationView["blocker"], string> = {
  approval: "a person must decide an approval",
  unknown: "a person must resolve an effect in doubt",
  child: "a child run has not settled",
  held: "held since a restore: a person must wake or abort it",
  "ready-aged": "ready, and no worker has taken it",
  "running-aged": "running for long",
  none: "nothing blocks it",
};

/** Every accepted submission that is not settled: blocked on what, since when, how bad (OP-11). */
export function ObligationsPage() {
  const { api } = useConsole();
  const { query, rows, count } = usePages(keys.obligations({}), (cursor, signal) =>
    api.obligations({ limit: 100, cursor }, signal),
  );
  const now = useNow();
  useReadWhenTimeSaysSo(rows, now);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader
        title="Obligations"
        aside={
          <>
            {count === undefined ? null : (
              <span className="mono text-soft">{cappedText(count)} owed</span>
            )}
            <span className="text-soft">Aging after 5 min, overdue after 1 h.</span>
          </>
        }
      />
      <div className="min-h-0 flex-1 overflow-auto bg-panel">
        <PagedList
          query={query}
          rows={rows}
          label="obligations"
          rowHeight={65}
          empty={
            <Empty kind="nothing-yet" title="Nothing is owed">
              Every accepted submission is settled.
            </Empty>
          }
        >
          {(items) => (
            <ul aria-label="Obligations">
              {items
                .map((stored) => obligationAt(stored, now))
                .map((row) => (
                  <li
                    key={row.submissionId}
                    data-obligation={row.runId}
                    className="grid gap-x-4 border-b border-line px-4 py-2 md:grid-cols-[100px_minmax(0,1fr)_120px]"
                  >
                    <StatusBadge look={severityLook[row.severity]} />
                    <div className="min-w-0">
                      <p className="truncate">
                        <Link
                          href={`/runs/${encodeURIComponent(row.runId)}`}
                          className="font-medium hover:underline"
                        >
                          <VisibleText text={row.title === "" ? "untitled" : row.title} line />
                        </Link>
                      </p>
                      <p className="text-table">
                        Blocked: {blockerText[row.blocker]}.{" "}
                        <span className="text-soft">
                          <VisibleText text={row.explanation} />
                        </span>
                      </p>
                      <Wake row={row} now={now} />
                    </div>
                    <p className="flex gap-x-3 text-table text-soft md:block md:text-right">
                      <span className="md:block">
                        <Age at={row.since} />
                      </span>
                      <span className="md:block">{countOf(row.attempts, "attempt")}</span>
                      <Link
                        href={`/runs/${encodeURIComponent(row.runId)}?view=attempts`}
                        className="underline underline-offset-2"
                      >
                        explain
                      </Link>
                    </p>
                  </li>
                ))}
            </ul>
          )}
        </PagedList>
      </div>
    </div>
  );
}

/** Reads the list again whenever a row has come to a moment after which it says something else. */
function useReadWhenTimeSaysSo(rows: ReadonlyArray<ObligationView>, now: number): void {
  const client = useQueryClient();
  const passed = momentsPassed(rows, now);
  const before = useRef({ rows, passed });
  useEffect(() => {
    const { passed: known, rows: same } = before.current;
    before.current = { rows, passed };
    // Rows that were just read say already what their moments have made of them.
    if (rows === same && passed > known)
      void client.invalidateQueries({ queryKey: ["obligations"] });
  }, [client, passed, rows]);
}

/** A run that backs off: when it is due, and the button that does not wait for that. */
function Wake({ row, now }: { row: ObligationView & { readonly isDue: boolean }; now: number }) {
  const { api } = useConsole();
  const client = useQueryClient();
  const me = useMe();
  const { dueAt, isDue, runId } = row;
  return (
    <div className="flex flex-wrap items-center gap-2 text-table text-soft">
      {dueAt === null ? null : (
        <span className="mt-1">
          {isDue ? (
            "Its next attempt is due now."
          ) : (
            <>
              Next attempt in <span className="mono">{secondsText(dueAt - now)}</span>, at{" "}
              <At at={dueAt} timeOnly />.
            </>
          )}
        </span>
      )}
      {isAtLeast(me, "operator") ? (
        <ConfirmWithReason
          offered={(dueAt !== null && !isDue) || row.blocker === "held"}
          title="Wake this run?"
          effect="The next attempt starts now instead of at its time."
          confirm="Wake it"
          run={async (commandId, reason) => void (await api.wakeRun(runId, commandId, { reason }))}
          readTruth={async () => steeringTruth(await api.explainRun(runId))}
          onDone={() => client.invalidateQueries({ queryKey: ["obligations"] })}
        >
          <AlarmClock aria-hidden size={15} /> Wake…
        </ConfirmWithReason>
      ) : null}
    </div>
  );
}
