"use client";
import { ChevronLeft, ChevronRight, Maximize2, ZoomIn, ZoomOut } from "lucide-react";
import { type PointerEvent, type ReactNode, useMemo, useRef, useState } from "react";
import {
  type Brush,
  clampBrush,
  densityOf,
  type Lane,
  moveBrush,
  wholeBrush,
  zoomBrush,
} from "#components/timeline/lanes.ts";
import type { Scale } from "#components/timeline/positions.ts";

const columns = 240;

/** The whole run in one strip: how much went on when. A drag chooses the stretch that is looked at. */
export function TimelineBrush({
  lanes,
  scale,
  brush,
  end,
  onBrush,
}: {
  lanes: ReadonlyArray<Lane>;
  scale: Scale;
  brush: Brush;
  end: number;
  onBrush: (brush: Brush) => void;
}) {
  const strip = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<Brush>();
  const density = useMemo(() => densityOf(lanes, scale, end, columns), [lanes, scale, end]);
  const placeOf = (event: PointerEvent): number => {
    const box = strip.current?.getBoundingClientRect();
    return box === undefined || box.width === 0 ? 0 : (event.clientX - box.left) / box.width;
  };
  const shown = dragged ?? brush;
  const isWhole = shown.from <= 0 && shown.to >= 1;
  return (
    <div className="flex items-center gap-2 px-4 py-2">
      <div
        ref={strip}
        aria-hidden
        data-brush
        className="relative h-9 min-w-0 flex-1 cursor-crosshair touch-none rounded-sm border border-line"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = placeOf(event);
          setDragged({ from: at, to: at });
        }}
        onPointerMove={(event) => {
          if (dragged !== undefined) setDragged({ ...dragged, to: placeOf(event) });
        }}
        onPointerUp={() => {
          if (dragged === undefined) return;
          setDragged(undefined);
          // A press without a drag asks for the whole again.
          const isPress = Math.abs(dragged.to - dragged.from) < 0.004;
          onBrush(isPress ? wholeBrush : clampBrush(dragged));
        }}
        onPointerCancel={() => setDragged(undefined)}
      >
        <svg
          className="absolute inset-0 size-full text-active"
          viewBox={`0 0 ${columns} 100`}
          preserveAspectRatio="none"
        >
          <path d={outline(density)} fill="currentColor" fillOpacity={0.35} />
        </svg>
        {isWhole ? null : (
          <span
            className="absolute inset-y-0 border-x-2 border-active bg-active/15"
            style={{
              left: `${Math.min(shown.from, shown.to) * 100}%`,
              width: `${Math.abs(shown.to - shown.from) * 100}%`,
            }}
          />
        )}
      </div>
      <fieldset className="flex">
        <legend className="sr-only">Stretch of time that is shown</legend>
        <Step
          name="Earlier"
          onClick={() => onBrush(moveBrush(brush, -0.5))}
          isOff={brush.from <= 0}
        >
          <ChevronLeft aria-hidden size={15} />
        </Step>
        <Step name="Zoom in" onClick={() => onBrush(zoomBrush(brush, 0.5))}>
          <ZoomIn aria-hidden size={15} />
        </Step>
        <Step name="Zoom out" onClick={() => onBrush(zoomBrush(brush, 2))} isOff={isWhole}>
          <ZoomOut aria-hidden size={15} />
        </Step>
        <Step name="Later" onClick={() => onBrush(moveBrush(brush, 0.5))} isOff={brush.to >= 1}>
          <ChevronRight aria-hidden size={15} />
        </Step>
        <Step name="The whole run" onClick={() => onBrush(wholeBrush)} isOff={isWhole}>
          <Maximize2 aria-hidden size={14} />
        </Step>
      </fieldset>
    </div>
  );
}

/** Steps along the columns, closed below; what is busy at all is never flat. */
const outline = (density: ReadonlyArray<number>): string =>
  `M0 100 ${density
    .map((share, at) => {
      const height = share === 0 ? 100 : 94 - share * 88;
      return `L${at} ${height.toFixed(1)} L${at + 1} ${height.toFixed(1)}`;
    })
    .join(" ")} L${density.length} 100 Z`;

function Step({
  name,
  onClick,
  isOff = false,
  children,
}: {
  name: string;
  onClick: () => void;
  isOff?: boolean;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      title={name}
      aria-label={name}
      disabled={isOff}
      onClick={onClick}
      className="grid size-8 place-items-center rounded-sm text-soft hover:bg-raised hover:text-ink disabled:opacity-40"
    >
      {children}
    </button>
  );
}
