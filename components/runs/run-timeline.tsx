"use client";
import { type ReactNode, useMemo } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { useNow } from "#components/shell/use-now.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { callStateLook } from "#components/status/call-state.ts";
import { StatusBadge } from "#components/status/status-badge.tsx";
import { toneClass } from "#components/status/tone.ts";
import { barOf, makeScale, type Scale, type Stretch } from "#components/timeline/positions.ts";
import { durationText } from "#components/ui/durations.ts";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { RunDetail, ToolCallView, TurnView } from "#lib/contract/views.ts";
import { callTimes } from "./call-times.ts";

/** Lanes turn > call on one scale: the model's time, queue, the wait for a person and the run told apart. */
export function RunTimeline({ detail }: { detail: RunDetail }) {
  const now = useNow();
  const end = detail.settledAt ?? Math.max(now, detail.createdAt + 1_000);
  const scale = useMemo(() => scaleOf(detail, end), [detail, end]);
  if (detail.turnViews.length === 0) {
    return (
      <Empty kind="nothing-yet" title="Nothing to draw yet">
        The first turn appears when the model has answered.
      </Empty>
    );
  }
  return (
    <div className="overflow-x-auto p-4">
      <Legend />
      <div className="min-w-[640px]">
        <Ruler scale={scale} />
        <ol aria-label="Turns">
          {detail.turnViews.map((turn) => (
            <TurnLanes key={turn.turn} turn={turn} scale={scale} end={end} />
          ))}
        </ol>
      </div>
    </div>
  );
}

const scaleOf = (detail: RunDetail, end: number): Scale => {
  const busy: Array<Stretch> = [];
  const all: Array<Stretch> = [{ from: detail.createdAt, to: end }];
  for (const turn of detail.turnViews) {
    busy.push({ from: turn.startedAt, to: turn.recordedAt });
    for (const call of turn.calls) {
      if (call.startedAt !== null) busy.push({ from: call.startedAt, to: call.endedAt ?? end });
      all.push({ from: call.declaredAt, to: call.endedAt ?? end });
    }
  }
  return makeScale(busy, [...all, ...busy]);
};

const lane = "grid grid-cols-[220px_minmax(0,1fr)] items-center gap-3";

function Ruler({ scale }: { scale: Scale }) {
  return (
    <div className={`${lane} h-6 text-xs text-soft`}>
      <span>
        {durationText(scale.to - scale.from)} in all
        {scale.folds.length === 0
          ? ""
          : `, ${scale.folds.length} idle gap${scale.folds.length === 1 ? "" : "s"} folded`}
      </span>
      <span className="relative h-full border-b border-line">
        {scale.folds.map((fold) => (
          <span
            key={fold.from}
            className="absolute top-0 flex h-full items-center justify-center overflow-visible border-x border-dashed border-edge whitespace-nowrap"
            style={{ left: `${fold.x * 100}%`, width: `${fold.width * 100}%` }}
            title={`${durationText(fold.to - fold.from)} in which nothing worked`}
          >
            ⋯ {durationText(fold.to - fold.from)}
          </span>
        ))}
      </span>
    </div>
  );
}

function TurnLanes({ turn, scale, end }: { turn: TurnView; scale: Scale; end: number }) {
  const model = barOf(scale, turn.startedAt, turn.recordedAt);
  return (
    <li>
      <div className={`${lane} h-7`}>
        <span className="font-semibold">
          Turn {turn.turn}{" "}
          <span className="font-normal text-soft">
            model {durationText(turn.recordedAt - turn.startedAt)}
          </span>
        </span>
        <Track>
          <Piece bar={model} className="tone-neutral fill-solid" title="the model answered" />
        </Track>
      </div>
      <ol aria-label={`Calls of turn ${turn.turn}`}>
        {turn.calls.flatMap((call) => [
          <CallLane key={call.callId} call={call} scale={scale} end={end} />,
          ...(call.inner ?? []).map((inner) => (
            <CallLane key={inner.callId} call={inner} scale={scale} end={end} isInner />
          )),
        ])}
      </ol>
    </li>
  );
}

function CallLane({
  call,
  scale,
  end,
  isInner = false,
}: {
  call: ToolCallView;
  scale: Scale;
  end: number;
  isInner?: boolean;
}) {
  const url = useUrlState();
  const look = callStateLook[call.state];
  const times = callTimes(call, end);
  const asked = call.requestedAt;
  const queueEnd = asked ?? call.startedAt ?? call.endedAt ?? end;
  const spoken = [
    `queued ${durationText(times.queuedMillis)}`,
    times.personMillis === null ? "" : `waited for a person ${durationText(times.personMillis)}`,
    times.ranMillis === null ? "never started" : `ran ${durationText(times.ranMillis)}`,
  ].filter((part) => part !== "");
  return (
    <li>
      <button
        type="button"
        onClick={() => url.set({ view: undefined, turn: String(call.turn), call: call.callId })}
        className={`${lane} h-7 w-full text-left text-table hover:bg-raised`}
      >
        <span className={`flex min-w-0 items-center gap-1.5 ${isInner ? "pl-8" : "pl-3"}`}>
          <StatusBadge look={look} compact />
          <code className="truncate">
            <VisibleText text={call.toolName} line />
          </code>
          <span className="sr-only">{spoken.join(", ")}</span>
        </span>
        <Track>
          <Piece
            bar={barOf(scale, call.declaredAt, queueEnd)}
            className="tone-neutral opacity-50 fill-outline"
            title={spoken[0] ?? ""}
          />
          {asked === null ? null : (
            <Piece
              bar={barOf(scale, asked, call.decidedAt ?? call.endedAt ?? end)}
              className="tone-attention fill-outline"
              title="waited for a person"
            />
          )}
          {call.startedAt === null ? null : (
            <Piece
              bar={barOf(scale, call.startedAt, call.endedAt ?? end)}
              className={`${toneClass[look.tone]} ${look.fill}`}
              title={spoken.at(-1) ?? ""}
            />
          )}
        </Track>
      </button>
    </li>
  );
}

const Track = ({ children }: { children: ReactNode }) => (
  <span aria-hidden className="relative h-4">
    {children}
  </span>
);

function Piece({
  bar,
  className,
  title,
}: {
  bar: ReturnType<typeof barOf>;
  className: string;
  title: string;
}) {
  return (
    <span
      className={`absolute top-0.5 h-3 rounded-sm ${className} ${bar.skewed ? "outline outline-dashed outline-danger" : ""}`}
      style={{ left: `${bar.x * 100}%`, width: `max(3px, ${bar.width * 100}%)` }}
      title={bar.skewed ? `${title}; the stored times contradict each other` : title}
    />
  );
}

const Legend = () => (
  <ul aria-label="Legend" className="mb-2 flex flex-wrap gap-x-4 gap-y-1 text-table text-soft">
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
