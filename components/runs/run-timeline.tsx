"use client";
import { useMemo } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { useNow } from "#components/shell/use-now.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import {
  brushOfText,
  brushText,
  type Lane,
  lanesOf,
  lanesWithin,
  scaleOfLanes,
  type TurnLanes,
} from "#components/timeline/lanes.ts";
import { Button } from "#components/ui/button.tsx";
import { countOf, countText } from "#components/ui/durations.ts";
import type { RunDetail, TurnView } from "#lib/contract/run-views.ts";
import { TimelineBrush } from "./timeline-brush.tsx";
import { TimelineChoice } from "./timeline-choice.tsx";
import { Legend, TimelineLanes } from "./timeline-lanes.tsx";
import { TimelineTable } from "./timeline-table.tsx";
import { useEarlierTimes } from "./use-run-times.ts";

function useTurns(detail: RunDetail) {
  const { left, query, turns: earlier } = useEarlierTimes(detail);
  const turns = useMemo(
    () => [...earlier, ...detail.turnViews.map(turnLanes)],
    [earlier, detail.turnViews],
  );
  return { turns, left, query };
}

const turnLanes = ({ turn, startedAt, recordedAt, calls }: TurnView): TurnLanes => ({
  turn,
  startedAt,
  recordedAt,
  calls,
  inner: calls.flatMap(({ callId, inner = [] }) =>
    inner.map((one) => ({ ...one, parentCallId: callId })),
  ),
  steps: new Map(
    calls
      .flatMap((call) => [call, ...(call.inner ?? [])])
      .flatMap(({ callId, steps }) => (steps === undefined ? [] : [[callId, steps]])),
  ),
});

/** Lanes turn > call on one scale: the model's time, queue, the wait for a person and the run told apart. */
export function RunTimeline({ detail }: { detail: RunDetail }) {
  const url = useUrlState();
  const now = useNow();
  const { turns, left, query } = useTurns(detail);
  const lanes = useMemo(() => lanesOf(turns), [turns]);
  const end = detail.settledAt ?? Math.max(now, detail.createdAt + 1_000);
  const scale = useMemo(
    () => scaleOfLanes(lanes, detail.createdAt, end),
    [lanes, detail.createdAt, end],
  );
  const zoom = url.get("zoom");
  const brush = useMemo(() => brushOfText(zoom), [zoom]);
  const shown = useMemo(() => lanesWithin(lanes, scale, brush, end), [lanes, scale, brush, end]);
  if (lanes.length === 0) {
    return (
      <Empty kind="nothing-yet" title="Nothing to draw yet">
        The first turn appears when the model has answered.
      </Empty>
    );
  }
  const asTable = url.get("timeline") === "table";
  const chosen = chosenKey(url);
  const choose = (lane: Lane): void =>
    url.set(
      lane.kind === "turn"
        ? { turn: String(lane.turn.turn), call: undefined }
        : { turn: String(lane.turn), call: lane.call.callId },
    );
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-3">
        <Legend />
        <Button
          kind="quiet"
          className="ml-auto"
          aria-pressed={asTable}
          onClick={() => url.set({ timeline: asTable ? undefined : "table" })}
        >
          {asTable ? "Show lanes" : "Show as a table"}
        </Button>
      </div>
      <TimelineBrush
        lanes={lanes}
        scale={scale}
        brush={brush}
        end={end}
        onBrush={(next) => url.set({ zoom: brushText(next) })}
      />
      <p className="px-4 pb-1 text-table text-soft" data-lanes={shown.length}>
        {shown.length === lanes.length
          ? countOf(lanes.length, "lane")
          : `${countText(shown.length)} of ${countOf(lanes.length, "lane")} in the chosen stretch`}
        {scale.folds.length === 0 ? "" : `, ${countOf(scale.folds.length, "idle gap")} folded`}
        {query.isLoading ? ", earlier turns are being read" : ""}
        {left === 0 ? null : (
          <>
            , {countOf(left, "call")} before them are not drawn{" "}
            <button
              type="button"
              className="underline underline-offset-2"
              disabled={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              draw more
            </button>
          </>
        )}
      </p>
      {asTable ? (
        <TimelineTable lanes={shown} end={end} chosen={chosen} onChoose={choose} />
      ) : (
        <TimelineLanes
          lanes={shown}
          scale={scale}
          brush={brush}
          end={end}
          chosen={chosen}
          onChoose={choose}
        />
      )}
      <TimelineChoice lanes={lanes} chosen={chosen} end={end} />
    </div>
  );
}

const chosenKey = (url: ReturnType<typeof useUrlState>): string | undefined => {
  const turn = url.get("turn");
  const call = url.get("call");
  return turn === undefined ? undefined : call === undefined ? turn : `${turn}/${call}`;
};
