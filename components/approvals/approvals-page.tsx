"use client";
import dynamic from "next/dynamic";
import { useEffect, useMemo, useRef, useState } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useKeys } from "#components/shell/keys.tsx";
import { ListAndDetail } from "#components/shell/list-and-detail.tsx";
import { LookBack, useMomentAddress } from "#components/shell/moment.tsx";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { approvalStateLook, approvalStates } from "#components/status/approval-state.ts";
import { Button } from "#components/ui/button.tsx";
import { cappedText } from "#components/ui/durations.ts";
import { Select } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import type { ApprovalState } from "#lib/contract/status.ts";
import type { ApprovalListItem } from "#lib/contract/approval-views.ts";
import { ApprovalDetailPane } from "./approval-detail.tsx";
import { ApprovalList } from "./approval-list.tsx";
import { useApprovals } from "./use-approvals.ts";

const isState = (text: string | undefined): text is ApprovalState =>
  approvalStates.some((state) => state === text);

const ApprovalsPast = dynamic(() => import("./approvals-past.tsx"), { ssr: false });

/** The queue as it is, or with `?at=` as it was after an event. */
export function ApprovalsPage() {
  const at = useMomentAddress();
  return at === undefined ? <Queue /> : <ApprovalsPast at={at} />;
}

/** The queue: the list at the left, the chosen call at the right, decided from there. */
function Queue() {
  const url = useUrlState();
  const wanted = url.get("state");
  const state = isState(wanted) ? wanted : "pending";
  const approvals = useApprovals(state);
  const fetched = useMemo(
    () => approvals.data?.pages.flatMap((page) => page.items),
    [approvals.data],
  );
  const chosen = url.get("request");
  const rows = useKeptRow(fetched, chosen);
  const filter = useRef<HTMLSelectElement>(null);

  // Something is always open where there is room for it; it stays open when nearer deadlines arrive.
  useEffect(() => {
    const first = rows[0];
    const wide = window.matchMedia("(min-width: 1024px)").matches;
    if (chosen === undefined && first !== undefined && wide) url.set({ request: first.requestId });
  }, [rows, chosen, url]);

  const at = rows.findIndex((row) => row.requestId === chosen);
  const choose = (row: ApprovalListItem | undefined, push = false): void => {
    if (row !== undefined) url.set({ request: row.requestId }, push);
  };
  useKeys({
    next: () => choose(rows[at + 1] ?? rows[at] ?? rows[0]),
    previous: () => choose(rows[Math.max(0, at - 1)]),
    open: () => choose(rows[Math.max(0, at)], true),
    back: () => url.set({ request: undefined }),
    filter: () => filter.current?.focus(),
  });

  const count = approvals.data?.pages[0]?.count;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className={chosen === undefined ? "" : "max-lg:sr-only"}>
        <PageHeader
          title="Approvals"
          aside={
            <>
              {count === undefined ? null : (
                <span className="mono text-soft" data-count>
                  {cappedText(count)} {approvalStateLook[state].word}
                </span>
              )}
              {approvals.data?.pages[0] === undefined ? null : (
                <LookBack asOf={approvals.data.pages[0].asOf} />
              )}
              <label className="ml-auto flex items-center gap-2">
                <span className="text-soft">State</span>
                <Select
                  ref={filter}
                  value={state}
                  onChange={(event) => url.set({ state: event.target.value, request: undefined })}
                  className="w-auto"
                >
                  {approvalStates.map((one) => (
                    <option key={one} value={one}>
                      {approvalStateLook[one].word}
                    </option>
                  ))}
                </Select>
              </label>
            </>
          }
        />
      </div>
      <ListAndDetail
        rows={approvals.data === undefined ? undefined : rows.length}
        backTo="Approvals"
        onBack={() => url.set({ request: undefined })}
        detail={
          chosen === undefined ? undefined : <ApprovalDetailPane key={chosen} requestId={chosen} />
        }
        list={
          <QueryStates query={approvals} loading={<SkeletonRows height={85} label="approvals" />}>
            {() =>
              rows.length === 0 ? (
                <NoApprovals state={state} />
              ) : (
                <>
                  <ApprovalList rows={rows} chosen={chosen} onChoose={(row) => choose(row, true)} />
                  {approvals.hasNextPage ? (
                    <div className="p-3">
                      <Button
                        disabled={approvals.isFetchingNextPage}
                        onClick={() => void approvals.fetchNextPage()}
                      >
                        Show more
                      </Button>
                    </div>
                  ) : null}
                </>
              )
            }
          </QueryStates>
        }
      />
    </div>
  );
}

/**
 * The rows as read, and the chosen one kept in its place when it has left the list because it was
 * decided: what a person looks at does not vanish, and `j` goes on from there.
 */
function useKeptRow(
  fetched: ReadonlyArray<ApprovalListItem> | undefined,
  chosen: string | undefined,
): ReadonlyArray<ApprovalListItem> {
  const [kept, setKept] = useState<{ readonly row: ApprovalListItem; readonly at: number }>();
  const at = fetched?.findIndex((row) => row.requestId === chosen) ?? -1;
  const row = fetched?.[at];
  if (row !== undefined && (kept?.row !== row || kept.at !== at)) setKept({ row, at });
  return useMemo(() => {
    if (fetched === undefined) return [];
    if (at >= 0 || kept === undefined || kept.row.requestId !== chosen) return fetched;
    return fetched.toSpliced(Math.min(kept.at, fetched.length), 0, kept.row);
  }, [fetched, chosen, at, kept]);
}

const NoApprovals = ({ state }: { state: ApprovalState }) =>
  state === "pending" ? (
    <Empty kind="nothing-yet" title="Nothing waits for you">
      When an agent wants to do something that needs a person, it appears here within a second,
      nearest deadline first.
    </Empty>
  ) : (
    <Empty kind="nothing-matches" title={`No approval is ${approvalStateLook[state].word}`}>
      Choose another state above.
    </Empty>
  );
