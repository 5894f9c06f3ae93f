"use client";
/* oxlint-disable jsx-a11y/prefer-tag-over-role, react/incompatible-library */
// Rows placed by a virtualizer cannot be table elements, so their roles are written out.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { callStateLook } from "#components/status/call-state.ts";
import { StatusBadge } from "#components/status/status-badge.tsx";
import type { Lane } from "#components/timeline/lanes.ts";
import { durationText } from "#components/ui/durations.ts";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { callTimes } from "./call-times.ts";

const rowHeight = 28;
const columns =
  "grid min-w-[760px] grid-cols-[56px_minmax(160px,1fr)_150px_110px_90px_90px_90px] items-center gap-3 px-4";
const headings = ["Turn", "What", "State", "Declared", "Queued", "Person", "Ran"] as const;

/** The same lanes as words and numbers, for a screen reader and for whoever reads rather than looks. */
export function TimelineTable({
  lanes,
  end,
  chosen,
  onChoose,
}: {
  lanes: ReadonlyArray<Lane>;
  end: number;
  chosen: string | undefined;
  onChoose: (lane: Lane) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => lanes[index]?.key ?? index,
    overscan: 16,
  });
  const first = useRef(lanes.findIndex(({ key }) => key === chosen));
  useEffect(() => {
    // A link to a call brings its row into view once.
    if (first.current > 0) virtualizer.scrollToIndex(first.current, { align: "center" });
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  return (
    <div ref={box} className="min-h-40 flex-1 overflow-auto border-t border-line">
      <div
        role="table"
        aria-label="Turns and calls with their times"
        aria-rowcount={lanes.length + 1}
        className="text-table"
      >
        <div
          role="row"
          aria-rowindex={1}
          className={`${columns} sticky top-0 z-10 h-7 border-b border-line bg-raised font-medium text-soft`}
        >
          {headings.map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const lane = lanes[item.index];
            return lane === undefined ? null : (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 2}
                aria-selected={lane.key === chosen}
                className={`${columns} absolute inset-x-0 top-0 border-b border-line aria-selected:bg-raised`}
                style={{ height: rowHeight, transform: `translateY(${item.start}px)` }}
              >
                <Cells lane={lane} end={end} onChoose={onChoose} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const choice = "truncate text-left underline-offset-2 hover:underline";

function Cells({
  lane,
  end,
  onChoose,
}: {
  lane: Lane;
  end: number;
  onChoose: (lane: Lane) => void;
}) {
  if (lane.kind === "turn") {
    const { turn, startedAt, recordedAt } = lane.turn;
    return (
      <>
        <span role="cell">{turn}</span>
        <span role="cell" className="min-w-0">
          <button
            type="button"
            className={`${choice} font-semibold`}
            onClick={() => onChoose(lane)}
          >
            the model answered
          </button>
        </span>
        <span role="cell" />
        <span role="cell">
          <At at={startedAt} timeOnly />
        </span>
        <span role="cell" />
        <span role="cell" />
        <span role="cell" className="mono">
          {durationText(recordedAt - startedAt)}
        </span>
      </>
    );
  }
  if (lane.kind === "step") {
    return (
      <>
        <span role="cell">{lane.turn}</span>
        <span role="cell" className="flex min-w-0 pl-8">
          <button type="button" className={choice} onClick={() => onChoose(lane)}>
            step{" "}
            <code>
              <VisibleText text={lane.step.name} line />
            </code>
          </button>
        </span>
        <span role="cell">recorded</span>
        <span role="cell">
          <At at={lane.step.recordedAt} timeOnly />
        </span>
        <span role="cell" />
        <span role="cell" />
        <span role="cell" />
      </>
    );
  }
  const { call } = lane;
  const times = callTimes(call, end);
  return (
    <>
      <span role="cell">{lane.turn}</span>
      <span role="cell" className={`flex min-w-0 ${lane.isInner ? "pl-4" : ""}`}>
        <button type="button" className={choice} onClick={() => onChoose(lane)}>
          <code>
            <VisibleText text={call.toolName} line />
          </code>
        </button>
      </span>
      <span role="cell">
        <StatusBadge look={callStateLook[call.state]} />
      </span>
      <span role="cell">
        <At at={call.declaredAt} timeOnly />
      </span>
      {[times.queuedMillis, times.personMillis, times.ranMillis].map((millis, index) => (
        <span key={headings[index + 4]} role="cell" className="mono">
          {index === 2 && times.ranAtMost ? "≤ " : ""}
          {millis === null ? "–" : durationText(millis)}
        </span>
      ))}
    </>
  );
}
