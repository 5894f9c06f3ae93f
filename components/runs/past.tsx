"use client";
import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight, History } from "lucide-react";
import { createContext, useContext } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { Button } from "#components/ui/button.tsx";
import { countText } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { At } from "#components/ui/time.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { RunMoment } from "#lib/contract/http/run-parts.ts";

const PastContext = createContext(false);

/** True where a run is shown as it was: nothing may be done there. */
export const usePast = (): boolean => useContext(PastContext);
export const PastProvider = PastContext;

const sequenceText = /^\d{1,15}$/;

/** The sequence that `?at=` asks for; undefined in the present. */
export function useMomentAddress(): number | undefined {
  const text = useUrlState().get("at");
  return text !== undefined && sequenceText.test(text) ? Number(text) : undefined;
}

/** The run as it was after an event; what has happened does not change. */
export function useRunMoment(runId: string, sequence: number | undefined) {
  const { api } = useConsole();
  return useQuery({
    queryKey: keys.runAt(runId, sequence ?? 0),
    queryFn: ({ signal }) => api.runAt(runId, sequence ?? 0, signal),
    enabled: sequence !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    // Going from one event to the next keeps what is there until the next has come; never another run's.
    placeholderData: (before) => (before?.run.runId === runId ? before : undefined),
  });
}

/** Says that this is the past, which event made it, and the ways to its neighbours and back to now. */
export function PastBanner({ moment }: { moment: RunMoment }) {
  const url = useUrlState();
  const goTo = (sequence: number | null): void => {
    if (sequence !== null) url.set({ at: String(sequence) });
  };
  return (
    <output
      className="tone-attention tone-wash tone-edge flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5"
      data-past={moment.sequence}
    >
      <History aria-hidden size={15} className="text-attention" />
      <span className="font-semibold">This is the past</span>
      <span>
        as it was after event <span className="mono">{countText(moment.sequence)}</span>,{" "}
        <code>{moment.kind}</code>, <At at={moment.at} />. Nothing can be done here.
      </span>
      <span className="ml-auto flex items-center gap-1">
        <Button
          kind="quiet"
          className="px-2"
          disabled={moment.previous === null}
          onClick={() => goTo(moment.previous)}
        >
          <ChevronLeft aria-hidden size={14} /> event before
        </Button>
        <Button
          kind="quiet"
          className="px-2"
          disabled={moment.next === null}
          onClick={() => goTo(moment.next)}
        >
          event after <ChevronRight aria-hidden size={14} />
        </Button>
        <Button onClick={() => url.set({ at: undefined })}>Back to now</Button>
      </span>
    </output>
  );
}

/** Over a past that cannot be shown: the refusal stands below it, and this leads out. */
export function NoPast() {
  const url = useUrlState();
  return (
    <PageHeader
      title="The run as it was"
      aside={
        <Button className="ml-auto" onClick={() => url.set({ at: undefined })}>
          Back to now
        </Button>
      }
    />
  );
}

/** The way into the past: the run after its newest event, from where one goes back event by event. */
export function LookBack({ asOf }: { asOf: number }) {
  const url = useUrlState();
  if (usePast()) return null;
  return (
    <Button kind="quiet" onClick={() => url.set({ at: String(asOf) }, true)}>
      <History aria-hidden size={14} /> Look back
    </Button>
  );
}
