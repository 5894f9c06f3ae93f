"use client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { countText } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import type { MomentPlace } from "#lib/contract/http/moments.ts";
import { MomentBanner, NoPast, NotAll, WithoutPutAway } from "./moment.tsx";
import { FixedNow } from "./use-now.ts";

interface QueueThen extends MomentPlace {
  readonly items: ReadonlyArray<unknown>;
  readonly more: boolean;
}

/** A queue as it was after an event, by the clock of then; or why it cannot be shown, and the way out. */
export function PastQueue<Then extends QueueThen>({
  title,
  loading,
  queryKey,
  read,
  children,
}: {
  title: string;
  /** What is being loaded, for whoever does not see the page. */
  loading: string;
  queryKey: ReadonlyArray<unknown>;
  read: (signal: AbortSignal) => Promise<Then>;
  children: (then: Then) => ReactNode;
}) {
  const moment = useQuery({
    queryKey,
    queryFn: ({ signal }) => read(signal),
    // The past does not change.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {moment.data === undefined && moment.error !== null ? <NoPast title={title} /> : null}
      <QueryStates query={moment} loading={<SkeletonRows height={85} label={loading} />}>
        {(then) => (
          <FixedNow value={then.at}>
            <MomentBanner moment={then} />
            <PageHeader
              title={title}
              aside={
                <span className="mono text-soft" data-count>
                  {then.more ? "at least " : ""}
                  {countText(then.items.length)} open
                </span>
              }
            >
              {then.more ? <NotAll /> : null}
              <WithoutPutAway />
            </PageHeader>
            {children(then)}
          </FixedNow>
        )}
      </QueryStates>
    </div>
  );
}
