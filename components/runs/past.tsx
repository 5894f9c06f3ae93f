"use client";
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import { keys } from "#lib/client/query-keys.ts";

const PastContext = createContext(false);

/** True where a run is shown as it was: nothing may be done there. */
export const usePast = (): boolean => useContext(PastContext);
export const PastProvider = PastContext;

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
