"use client";
/* oxlint-disable react/incompatible-library */
// The virtualizer is the only state of its kind here, and it is read where it is made.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { callStateLook } from "#components/status/call-state.ts";
import { StatusBadge } from "#components/status/status-badge.tsx";
import { toneClass } from "#components/status/tone.ts";
import { callEnd } from "#components/timeline/call-end.ts";
import { type Brush, brushedBar, type Lane } from "#components/timeline/lanes.ts";
import { barOf, type Scale } from "#components/timeline/positions.ts";
import { durationText } from "#components/ui/durations.ts";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { callTimes, ranText } from "./call-times.ts";

const laneHeight = 28;
const columns = "grid grid-cols-[220px_minmax(0,1fr)] items-center gap-3";

interface Drawn {
  readonly scale: Scale;
  readonly brush: Brush;
  readonly end: number;
  readonly chosen: string | undefined;
  readonly onChoose: (lane: Lane) => void;
}

/** The lanes in view, however many there are. */
export function TimelineLanes({ lanes, ...drawn }: Drawn & { lanes: ReadonlyArray<Lane> }) {
  const box = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => box.current,
    estimateSize: () => laneHeight,
    getItemKey: (index) => lanes[index]?.key ?? index,
    overscan: 16,
  });
  const first = useRef(lanes.findIndex(({ key }) => key === drawn.chosen));
  useEffect(() => {
    // A link to a call brings its lane into view once.
    if (first.current > 0) virtualizer.scrollToIndex(first.current, { align: "center" });
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  return (
    <div
      ref={box}
      className="min-h-40 flex-1 overflow-auto border-t border-line px-4"
      data-timeline-lanes
    >
      <ol
        aria-label="Turns and calls"
        className="relative min-w-[640px]"
        style={{ height: virtualizer.getTotalSize() }}
      >
        {virtualizer.getVirtualItems().map((item) => {
          const lane = lanes[item.index];
          return lane === undefined ? null : (
            <li
              key={item.key}
              aria-posinset={item.index + 1}
              aria-setsize={lanes.length}
              className="absolute inset-x-0 top-0"
              style={{ height: laneHeight, transform: `translateY(${item.start}px)` }}
            >
              <LaneRow lane={lane} {...drawn} />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function LaneRow({ lane, scale, brush, end, chosen, onChoose }: Drawn & { lane: Lane }) {
  return (
    <button
      type="button"
      aria-pressed={lane.key === chosen}
      onClick={() => onChoose(lane)}
      className={`${columns} h-full w-full text-left text-table hover:bg-raised aria-pressed:bg-raised aria-pressed:shadow-[inset_2px_0_0] aria-pressed:shadow-active`}
      data-lane={lane.key}
    >
      {lane.kind === "turn" ? (
        <TurnName lane={lane} />
      ) : lane.kind === "step" ? (
        <StepName lane={lane} />
      ) : (
        <CallName lane={lane} end={end} />
      )}
      <span aria-hidden className="relative h-4 overflow-hidden">
        {piecesOf(lane, end).map((piece) => (
          <Piece key={piece.title} piece={piece} scale={scale} brush={brush} />
        ))}
      </span>
    </button>
  );
}

function TurnName({ lane }: { lane: Extract<Lane, { kind: "turn" }> }) {
  const { turn, startedAt, recordedAt } = lane.turn;
  return (
    <span className="truncate font-semibold">
      Turn {turn}{" "}
      <span className="font-normal text-soft">model {durationText(recordedAt - startedAt)}</span>
    </span>
  );
}

function StepName({ lane }: { lane: Extract<Lane, { kind: "step" }> }) {
  return (
    <span className="truncate pl-12 text-soft">
      step{" "}
      <code>
        <VisibleText text={lane.step.name} line />
      </code>
    </span>
  );
}

function CallName({ lane, end }: { lane: Extract<Lane, { kind: "call" }>; end: number }) {
  const times = callTimes(lane.call, end);
  const spoken = [
    `queued ${durationText(times.queuedMillis)}`,
    times.personMillis === null ? "" : `waited for a person ${durationText(times.personMillis)}`,
    ranText(lane.call, times),
  ].filter((part) => part !== "");
  return (
    <span className={`flex min-w-0 items-center gap-1.5 ${lane.isInner ? "pl-8" : "pl-3"}`}>
      <StatusBadge look={callStateLook[lane.call.state]} compact />
      <code className="truncate">
        <VisibleText text={lane.call.toolName} line />
      </code>
      <span className="sr-only">{spoken.join(", ")}</span>
    </span>
  );
}

interface PieceOfLane {
  readonly from: number;
  readonly to: number;
  readonly className: string;
  readonly title: string;
}

const piecesOf = (lane: Lane, end: number): ReadonlyArray<PieceOfLane> => {
  if (lane.kind === "turn") {
    const { startedAt, recordedAt } = lane.turn;
    const className = "tone-neutral fill-solid";
    return [{ from: startedAt, to: recordedAt, className, title: "the model answered" }];
  }
  if (lane.kind === "step") {
    const { recordedAt } = lane.step;
    const className = "tone-success fill-solid";
    return [{ from: recordedAt, to: recordedAt, className, title: "result recorded" }];
  }
  const { call } = lane;
  const look = callStateLook[call.state];
  const asked = call.requestedAt;
  const stopped = callEnd(call) ?? end;
  return [
    {
      from: call.declaredAt,
      to: asked ?? call.startedAt ?? stopped,
      className: "tone-neutral opacity-50 fill-outline",
      title: "queued",
    },
    ...(asked === null
      ? []
      : [
          {
            from: asked,
            to: call.decidedAt ?? stopped,
            className: "tone-attention fill-outline",
            title: "waited for a person",
          },
        ]),
    ...(call.startedAt === null
      ? []
      : [
          {
            from: call.startedAt,
            to: stopped,
            className: `${toneClass[look.tone]} ${look.fill}`,
            title: "ran",
          },
        ]),
  ];
};

function Piece({ piece, scale, brush }: { piece: PieceOfLane; scale: Scale; brush: Brush }) {
  const bar = brushedBar(barOf(scale, piece.from, piece.to), brush);
  if (bar === undefined) return null;
  const length = durationText(Math.abs(piece.to - piece.from));
  return (
    <span
      className={`absolute top-0.5 h-3 rounded-sm ${piece.className} ${bar.skewed ? "outline outline-dashed outline-danger" : ""}`}
      style={{ left: `${bar.x * 100}%`, width: `max(3px, ${bar.width * 100}%)` }}
      title={
        bar.skewed
          ? `${piece.title}; the stored times contradict each other`
          : `${piece.title} ${length}`
      }
    />
  );
}

export const Legend = (): ReactNode => (
  <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 text-table text-soft">
    {(
      [
        ["tone-neutral fill-solid", "model"],
        ["tone-neutral opacity-50 fill-outline", "queued"],
        ["tone-attention fill-outline", "waiting for a person"],
        ["tone-success fill-solid", "ran, succeeded"],
        ["tone-danger fill-solid", "ran, failed"],
        ["tone-attention fill-hatch", "outcome unknown"],
      ] as const
    ).map(([className, name]) => (
      <li key={name} className="flex items-center gap-1.5">
        <span aria-hidden className={`h-3 w-5 rounded-sm ${className}`} />
        {name}
      </li>
    ))}
  </ul>
);
