"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useMemo, useRef, useState } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useKeys } from "#components/shell/keys.tsx";
import { useSettings } from "#components/shell/settings.tsx";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { cappedText, countText } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { At } from "#components/ui/time.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { RunListItem } from "#lib/contract/run-views.ts";
import { activeFilters, runQuery } from "./run-filters.ts";
import { RunFilterBar } from "./run-filter-bar.tsx";
import { RunTable } from "./run-table.tsx";

const pageRows = 100;

/** Every run, newest first. New ones are announced above the list, never pushed into it (C076). */
export function RunsPage() {
  const { api } = useConsole();
  const router = useRouter();
  const url = useUrlState();
  const { zone } = useSettings();
  const query = useMemo(() => runQuery(url, zone), [url, zone]);
  const runs = useInfiniteQuery({
    queryKey: keys.runs(query),
    queryFn: ({ pageParam, signal }) =>
      api.runs({ ...query, limit: pageRows, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (last) => last.next,
  });
  const all = useMemo(() => runs.data?.pages.flatMap((page) => page.items) ?? [], [runs.data]);
  const { rows, fresh, accept } = useAccepted(all, JSON.stringify(query));
  const [active, setActive] = useState(0);
  const filter = useRef<HTMLInputElement>(null);

  const open = (row: RunListItem | undefined): void => {
    if (row !== undefined) router.push(`/runs/${encodeURIComponent(row.runId)}`);
  };
  useKeys({
    next: () => setActive((at) => Math.min(rows.length - 1, at + 1)),
    previous: () => setActive((at) => Math.max(0, at - 1)),
    open: () => open(rows[active]),
    filter: () => filter.current?.focus(),
  });

  const count = runs.data?.pages[0]?.count;
  const searched = runs.data?.pages.at(-1)?.searched;
  const filtered = activeFilters(url) > 0 || url.all("state").length > 0;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader
        title="Runs"
        aside={
          <>
            {count === undefined ? null : (
              <span className="mono text-soft" data-count>
                {cappedText(count)} {filtered ? "match" : "in all"}
              </span>
            )}
            {fresh === 0 ? null : (
              <button
                type="button"
                onClick={accept}
                className="tone-active tone-wash rounded-sm border border-active px-2 text-active"
                data-new-runs
              >
                {countText(fresh)} new, show
              </button>
            )}
          </>
        }
      >
        <RunFilterBar url={url} textRef={filter} />
        {searched === undefined ? null : (
          <output className="tone-attention tone-text w-full" data-searched>
            Searched the newest {countText(searched.rows)} runs only, back to{" "}
            <At at={searched.since} />: this database has no index of titles for such a text. Narrow
            it with another filter or a time.
          </output>
        )}
      </PageHeader>
      <QueryStates query={runs} loading={<SkeletonRows rows={14} label="runs" />}>
        {() =>
          rows.length === 0 ? (
            <Empty
              kind={filtered ? "nothing-matches" : "nothing-yet"}
              title={filtered ? "No run matches the filter" : "No run yet"}
            >
              {filtered
                ? "Take a filter away, or look at another time."
                : "Start one under New run (g n)."}
            </Empty>
          ) : (
            <RunTable
              rows={rows}
              active={active}
              onActive={setActive}
              more={runs.hasNextPage}
              loadingMore={runs.isFetchingNextPage}
              onMore={() => void runs.fetchNextPage()}
            />
          )
        }
      </QueryStates>
    </div>
  );
}

/**
 * The rows that were accepted, brought up to date, and how many newer ones wait to be let in. A change
 * of the filter accepts what comes.
 */
function useAccepted(all: ReadonlyArray<RunListItem>, filter: string) {
  const [accepted, setAccepted] = useState<{ readonly filter: string; readonly until: number }>();
  const newest = all[0]?.createdAt;
  const known = accepted?.filter === filter ? accepted.until : undefined;
  if (known === undefined && newest !== undefined) setAccepted({ filter, until: newest });
  const until = known ?? newest ?? 0;
  const rows = useMemo(() => all.filter((row) => row.createdAt <= until), [all, until]);
  return {
    rows,
    fresh: all.length - rows.length,
    accept: () => setAccepted({ filter, until: newest ?? 0 }),
  };
}
