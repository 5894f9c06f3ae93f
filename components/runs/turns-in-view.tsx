"use client";
/* oxlint-disable react/incompatible-library */
// The virtualizer is the only state of its kind here, and it is read where it is made.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { useUrlState } from "#components/shell/use-url-state.ts";

/** The turns in view; a link to one brings it there. */
export function TurnsInView({
  count,
  numberOf,
  sizeOf,
  turnAt,
}: {
  count: number;
  /** The number of the turn at a place of the list. */
  numberOf: (index: number) => number;
  /** About how high a turn is, in pixels: too little would draw turns that nobody sees. */
  sizeOf: (index: number) => number;
  turnAt: (index: number) => ReactNode;
}) {
  const list = useRef<HTMLDivElement>(null);
  const chosen = Number(useUrlState().get("turn") ?? 0);
  const virtualizer = useVirtualizer({
    count,
    // The view scrolls, header and all; the turns begin below the request.
    getScrollElement: () => document.getElementById("run-view"),
    estimateSize: sizeOf,
    getItemKey: numberOf,
    overscan: 1,
    scrollMargin: list.current?.offsetTop ?? 0,
  });
  const first = useRef(chosen);
  useEffect(() => {
    if (first.current === 0) return;
    const place = Array.from({ length: count }, (_, index) => index).find(
      (index) => numberOf(index) === first.current,
    );
    if (place !== undefined) virtualizer.scrollToIndex(place, { align: "start" });
    // Once: later the page stays where the reader is.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  return (
    <div ref={list} className="relative" style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map((item) => (
        <div
          key={item.key}
          ref={virtualizer.measureElement}
          data-index={item.index}
          className="absolute inset-x-0 top-0"
          style={{
            transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)`,
          }}
        >
          {turnAt(item.index)}
        </div>
      ))}
    </div>
  );
}
