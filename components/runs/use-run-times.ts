"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { RunDetail } from "#lib/contract/run-views.ts";
import { usePast } from "./past.tsx";

/** Of the turns that did not come with the run only times and states are read; they have ended. */
export function useEarlierTimes(detail: RunDetail, enabled = true) {
  const { api } = useConsole();
  const isPast = usePast();
  const before = detail.earlier.turns + 1;
  const query = useInfiniteQuery({
    queryKey: keys.runTimes(detail.runId, before),
    queryFn: ({ pageParam, signal }) => api.runTimes(detail.runId, pageParam, signal),
    initialPageParam: before,
    // One answer holds the newest of them; what comes before its first turn is the next.
    getNextPageParam: ({ items, left }) => (left === 0 ? undefined : items[0]?.turn),
    enabled: enabled && detail.earlier.turns > 0 && !isPast,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  const turns = useMemo(
    () => query.data?.pages.toReversed().flatMap(({ items }) => items) ?? [],
    [query.data],
  );
  return { query, turns, left: query.data?.pages.at(-1)?.left ?? 0 };
}
