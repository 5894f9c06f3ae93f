"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";

interface Page<Item> {
  readonly items: ReadonlyArray<Item>;
  readonly next?: string;
  readonly count: { readonly value: number; readonly capped: boolean };
  readonly asOf: number;
}

/** A keyset list: its rows so far, the count of the filter, and a way to the next page. */
export function usePages<Item>(
  queryKey: ReadonlyArray<unknown>,
  fetchPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (last) => last.next,
  });
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  return { query, rows, count: query.data?.pages[0]?.count };
}
