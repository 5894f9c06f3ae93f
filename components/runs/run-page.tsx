"use client";
import { archivedReason } from "#components/feedback/archived.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useKeys } from "#components/shell/keys.tsx";
import { MomentBanner, NoPast, useMomentAddress } from "#components/shell/moment.tsx";
import { FixedNow } from "#components/shell/use-now.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { useRouter } from "next/navigation";
import { countText } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { freshSnapshot, type RunSnapshot } from "#lib/client/run-snapshot.ts";
import { Activity } from "./activity.tsx";
import { Attempts } from "./attempts.tsx";
import { Explanation } from "./explanation.tsx";
import { ExposureView } from "./exposure-view.tsx";
import { PastProvider, usePast, useRunMoment } from "./past.tsx";
import { Records } from "./records.tsx";
import { RunHeader } from "./run-header.tsx";
import { RunTimeline } from "./run-timeline.tsx";
import { useEarlierProgress, useRun } from "./use-run.ts";

const views = ["activity", "timeline", "exposure", "attempts", "records"] as const;
const noMeanings: ReadonlyMap<number, string> = new Map();
type View = (typeof views)[number];
const isView = (text: string | undefined): text is View => views.some((view) => view === text);

/** One run from its request to its settlement, live. */
export function RunPage({ runId }: { runId: string }) {
  const run = useRun(runId);
  const router = useRouter();
  useEarlierProgress(runId, run.data);
  useKeys({ back: () => router.push("/runs") });
  const at = useMomentAddress();
  const moment = useRunMoment(runId, at);
  if (at !== undefined) {
    return (
      <div className="flex min-h-0 flex-1 flex-col">
        {moment.data === undefined &&
        moment.error !== null &&
        archivedReason(moment.error) === undefined ? (
          <NoPast title="The run as it was" />
        ) : null}
        {moment.data === undefined && moment.error === null ? (
          <PageHeader title="The run as it was" />
        ) : null}
        <QueryStates
          query={moment}
          runId={runId}
          loading={<SkeletonRows rows={12} label="the run as it was" />}
        >
          {(then) => (
            <PastProvider value={true}>
              <FixedNow value={then.at}>
                <MomentBanner moment={then} />
                <Loaded snapshot={freshSnapshot(then.run)} />
              </FixedNow>
            </PastProvider>
          )}
        </QueryStates>
      </div>
    );
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {run.data === undefined && archivedReason(run.error) === undefined ? (
        <PageHeader title={`Run ${runId.slice(0, 16)}`} />
      ) : null}
      <QueryStates query={run} runId={runId} loading={<SkeletonRows rows={12} label="the run" />}>
        {(snapshot) => <Loaded snapshot={snapshot} />}
      </QueryStates>
    </div>
  );
}

function Loaded({ snapshot }: { snapshot: RunSnapshot }) {
  const url = useUrlState();
  const wanted = url.get("view");
  const view = isView(wanted) ? wanted : "activity";
  const { detail } = snapshot;
  const isPast = usePast();
  const counts: Partial<Record<View, number>> = {
    attempts: detail.attempts.length,
    exposure: detail.earlier.turns + detail.turnViews.length,
  };
  return (
    <>
      <RunHeader detail={detail} />
      <div
        role="tablist"
        aria-label="Views of the run"
        className="flex gap-1 overflow-x-auto border-b border-line bg-panel px-3"
      >
        {views.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={one === view}
            aria-controls="run-view"
            tabIndex={one === view ? 0 : -1}
            onClick={() => url.set({ view: one === "activity" ? undefined : one })}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
              if (step === 0) return;
              const next = views[(views.indexOf(one) + step + views.length) % views.length];
              if (next === undefined) return;
              url.set({ view: next === "activity" ? undefined : next });
              document.getElementById(`tab-${next}`)?.focus();
            }}
            className="h-8 shrink-0 border-b-2 border-transparent px-2 text-soft capitalize hover:text-ink aria-selected:border-active aria-selected:font-semibold aria-selected:text-ink"
          >
            {one}
            {counts[one] === undefined ? "" : ` ${countText(counts[one])}`}
          </button>
        ))}
      </div>
      <div
        id="run-view"
        role="tabpanel"
        aria-labelledby={`tab-${view}`}
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto bg-panel"
      >
        {view === "activity" ? <Activity snapshot={snapshot} /> : null}
        {view === "timeline" ? <RunTimeline detail={detail} /> : null}
        {view === "exposure" ? <ExposureView detail={detail} /> : null}
        {view === "attempts" ? (
          isPast ? (
            <Attempts detail={detail} meanings={noMeanings} />
          ) : (
            <Explanation detail={detail} />
          )
        ) : null}
        {view === "records" ? <Records runId={detail.runId} /> : null}
      </div>
    </>
  );
}
