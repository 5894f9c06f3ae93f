"use client";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { CallStateBadge } from "#components/status/status-badge.tsx";
import type { Lane } from "#components/timeline/lanes.ts";
import { Button } from "#components/ui/button.tsx";
import { durationText } from "#components/ui/durations.ts";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { callTimes, ranText } from "./call-times.ts";

/** What is chosen on the timeline, in words, with the way to all of it. */
export function TimelineChoice({
  lanes,
  chosen,
  end,
}: {
  lanes: ReadonlyArray<Lane>;
  chosen: string | undefined;
  end: number;
}) {
  const url = useUrlState();
  const lane = chosen === undefined ? undefined : lanes.find(({ key }) => key === chosen);
  if (lane === undefined) return null;
  return (
    <section
      aria-label="Chosen on the timeline"
      className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line px-4 py-2 text-table"
    >
      {lane.kind === "turn" ? (
        <span>
          Turn {lane.turn.turn}: the model began <At at={lane.turn.startedAt} timeOnly /> and took{" "}
          {durationText(lane.turn.recordedAt - lane.turn.startedAt)}
        </span>
      ) : lane.kind === "step" ? (
        <span>
          Step{" "}
          <code className="font-semibold">
            <VisibleText text={lane.step.name} line />
          </code>{" "}
          of <VisibleText text={lane.call.toolName} line />: recorded{" "}
          <At at={lane.step.recordedAt} timeOnly />
        </span>
      ) : (
        <ChosenCall lane={lane} end={end} />
      )}
      <span className="ml-auto flex gap-1">
        <Button
          onClick={() => url.set({ view: undefined, zoom: undefined, timeline: undefined }, true)}
        >
          Show it whole
        </Button>
        <Button kind="quiet" onClick={() => url.set({ turn: undefined, call: undefined })}>
          Close
        </Button>
      </span>
    </section>
  );
}

function ChosenCall({ lane, end }: { lane: Extract<Lane, { kind: "call" }>; end: number }) {
  const { call } = lane;
  const times = callTimes(call, end);
  return (
    <>
      <CallStateBadge state={call.state} />
      <code className="font-semibold">
        <VisibleText text={call.toolName} line />
      </code>
      <span className="text-soft">
        declared <At at={call.declaredAt} timeOnly />, queued {durationText(times.queuedMillis)}
        {times.personMillis === null
          ? ""
          : `, waited for a person ${durationText(times.personMillis)}`}
        , {ranText(call, times)}
      </span>
    </>
  );
}
