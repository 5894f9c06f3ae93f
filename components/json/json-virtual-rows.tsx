"use client";
/* oxlint-disable react/incompatible-library */
// The virtualizer is the only state of its kind here, and it is read where it is made.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useEffect } from "react";
import type { JsonRow } from "./json-rows.ts";

/** Only the lines in view of a long list of them. */
export default function JsonVirtualRows({
  rows,
  box,
  inView,
  draw,
}: {
  rows: ReadonlyArray<JsonRow>;
  /** What scrolls. */
  box: RefObject<HTMLDivElement | null>;
  /** Index of the line that must be in view. */
  inView?: number;
  draw: (row: JsonRow, index: number) => ReactNode;
}) {
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 22,
    overscan: 12,
  });
  useEffect(() => {
    if (inView === undefined) return;
    virtualizer.scrollToIndex(inView);
    // The box itself may stand below the fold: once the line is drawn, it is brought into view as well.
    const drawn = requestAnimationFrame(() =>
      box.current?.querySelector(`[data-index="${inView}"]`)?.scrollIntoView({ block: "nearest" }),
    );
    return () => cancelAnimationFrame(drawn);
    // The virtualizer is one object for as long as this is drawn.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [inView]);
  return (
    <div role="presentation" style={{ height: virtualizer.getTotalSize(), position: "relative" }}>
      {virtualizer.getVirtualItems().map((item) => {
        const row = rows[item.index];
        return row === undefined ? null : (
          <div
            key={row.path}
            role="presentation"
            ref={virtualizer.measureElement}
            data-index={item.index}
            style={{
              position: "absolute",
              top: 0,
              left: 0,
              right: 0,
              transform: `translateY(${item.start}px)`,
            }}
          >
            {draw(row, item.index)}
          </div>
        );
      })}
    </div>
  );
}
