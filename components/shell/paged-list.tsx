"use client";
import { type ReactNode, useEffect, useState } from "react";
import { QueryStates, type QueryShape } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { Button } from "#components/ui/button.tsx";
import { useKeys } from "./keys.tsx";

interface PagedQuery extends QueryShape<unknown> {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

/** The rows of a keyset list with its loading, failed, forbidden, empty and "show more" states. */
export function PagedList<Item>({
  query,
  rows,
  label,
  rowHeight,
  empty,
  children,
}: {
  query: PagedQuery;
  rows: ReadonlyArray<Item>;
  label: string;
  /** Pixels of a usual row, so that nothing jumps when the rows come. */
  rowHeight: number;
  empty: ReactNode;
  children: (rows: ReadonlyArray<Item>) => ReactNode;
}) {
  return (
    <QueryStates
      query={query}
      loading={<SkeletonRows rows={12} height={rowHeight} label={label} />}
    >
      {() =>
        rows.length === 0 ? (
          empty
        ) : (
          <>
            {children(rows)}
            {query.hasNextPage ? (
              <div className="p-3">
                <Button
                  disabled={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show more
                </Button>
              </div>
            ) : null}
          </>
        )
      }
    </QueryStates>
  );
}

/** Where there is room for a detail, the first row is open from the start, and it stays open. */
export function useFirstOpen(
  first: string | undefined,
  chosen: string | undefined,
  open: (id: string) => void,
): void {
  useEffect(() => {
    if (chosen !== undefined || first === undefined) return;
    if (window.matchMedia("(min-width: 1024px)").matches) open(first);
  }, [first, chosen, open]);
}

/** `j`, `k` and Enter over the rows of a list that opens one of them. */
export function useRowKeys(
  count: number,
  chosen: number,
  choose: (index: number) => void,
  back: () => void,
): void {
  const [last, setLast] = useState(-1);
  const at = chosen >= 0 ? chosen : last;
  const go = (index: number): void => {
    if (count === 0) return;
    const next = Math.min(count - 1, Math.max(0, index));
    setLast(next);
    choose(next);
  };
  useKeys({
    next: () => go(at + 1),
    previous: () => go(at - 1),
    open: () => go(Math.max(0, at)),
    back,
  });
}
