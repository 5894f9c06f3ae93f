"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import { applyToRun } from "#lib/client/apply-run-event.ts";
import { catchUpRun, isTooOld } from "#lib/client/catch-up.ts";
import { readEvent } from "#lib/client/event-stream.ts";
import { keys } from "#lib/client/query-keys.ts";
import { type CallProgress, type RunSnapshot } from "#lib/client/run-snapshot.ts";

/** One run, kept live by the event stream. */
export function useRun(runId: string) {
  const { api, recent } = useConsole();
  const client = useQueryClient();
  return useQuery({
    queryKey: keys.run(runId),
    queryFn: async ({ signal }) => {
      const answer = await api.run(runId, signal);
      // So many events came meanwhile that some are not kept: only a newer answer can be trusted.
      const detail = isTooOld(answer.asOf, recent) ? await api.run(runId, signal) : answer;
      return catchUpRun(detail, client.getQueryData<RunSnapshot>(keys.run(runId)), recent);
    },
    // A snapshot holds class instances and is compared by the reducers themselves.
    structuralSharing: false,
  });
}

/** How far back in the log preliminary values are looked for. */
const earlierEvents = 5_000;

/**
 * Preliminary values and half-written text are in no record: after a reload they are fetched once from
 * the run's own part of the log, up to where the page already is (OP-01).
 */
export function useEarlierProgress(runId: string, snapshot: RunSnapshot | undefined): void {
  const client = useQueryClient();
  const running = snapshot?.detail.state === "running";
  const known = snapshot !== undefined;
  useEffect(() => {
    if (!known || !running) return;
    const until = client.getQueryData<RunSnapshot>(keys.run(runId))?.detail.asOf ?? 0;
    // Only the newest are kept anyway; a long run's first events would be read for nothing.
    const after = Math.max(0, until - earlierEvents);
    const source = new EventSource(
      `/api/v1/events?runId=${encodeURIComponent(runId)}&after=${after}`,
    );
    let earlier: RunSnapshot | undefined;
    const finish = (): void => {
      source.close();
      const found = earlier;
      if (found === undefined) return;
      client.setQueryData<RunSnapshot>(keys.run(runId), (now) =>
        now === undefined ? now : { ...now, progress: joined(found.progress, now.progress) },
      );
    };
    source.addEventListener("message", (frame: MessageEvent<unknown>) => {
      const event = typeof frame.data === "string" ? readEvent(frame.data) : undefined;
      if (event === undefined || event.sequence > until) return;
      const base = client.getQueryData<RunSnapshot>(keys.run(runId));
      if (base === undefined || event.event._tag !== "ToolProgress") return;
      earlier ??= { ...base, progress: {}, detail: { ...base.detail, asOf: 0 } };
      earlier = applyToRun(earlier, event);
    });
    source.addEventListener("heartbeat", finish);
    source.addEventListener("error", finish);
    return () => source.close();
  }, [client, runId, known, running]);
}

const joined = (
  earlier: Readonly<Record<string, CallProgress>>,
  now: Readonly<Record<string, CallProgress>>,
): Readonly<Record<string, CallProgress>> => {
  const all: Record<string, CallProgress> = { ...earlier };
  for (const [key, progress] of Object.entries(now)) {
    const before = earlier[key]?.values.filter(
      (one) => !progress.values.some((two) => two.index === one.index),
    );
    all[key] = { dropped: progress.dropped, values: [...(before ?? []), ...progress.values] };
  }
  return all;
};
