"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from "react";
import { followShared } from "#lib/client/event-leader.ts";
import type { EventConnection } from "#lib/client/event-stream.ts";
import { keys } from "#lib/client/query-keys.ts";
import { localNow, useConsole } from "./console-context.tsx";
import { LiveStore, type LiveStatus } from "./live-store.ts";
import { useAnnounce } from "./live-region.tsx";

const LiveContext = createContext<LiveStore | undefined>(undefined);

const openEvents = (url: string): EventConnection => {
  const source = new EventSource(url);
  return {
    addEventListener: (type, listener) =>
      source.addEventListener(type, (event) =>
        listener(event instanceof MessageEvent ? event : {}),
      ),
    close: () => source.close(),
  };
};

const isVisible = (): boolean => document.visibilityState === "visible";

/** Follows the tenant's events once the operator and the first counts are known. */
export function LiveProvider({
  operatorId,
  children,
}: {
  operatorId: string;
  children: ReactNode;
}) {
  const { answers, api, clock, recent } = useConsole();
  const client = useQueryClient();
  const announce = useAnnounce();
  const [store] = useState(() => new LiveStore(client, recent, clock, localNow));
  const counts = useQuery({ queryKey: keys.counts, queryFn: ({ signal }) => api.counts(signal) });
  const ready = counts.data !== undefined;

  useEffect(() => store.onAnnounce(announce), [store, announce]);
  useEffect(() => {
    if (!ready) return;
    store.start(client.getQueryData<{ asOf: number }>(keys.counts)?.asOf ?? 0);
    const stop = followShared(
      {
        open: openEvents,
        now: localNow,
        after: (millis, run) => {
          const timer = setTimeout(run, millis);
          return () => clearTimeout(timer);
        },
        isVisible,
        onSign: (run) => {
          const whenSeen = (): void => {
            if (isVisible()) run();
          };
          const stop = answers.onAnswer(run);
          window.addEventListener("online", run);
          document.addEventListener("visibilitychange", whenSeen);
          return () => {
            stop();
            window.removeEventListener("online", run);
            document.removeEventListener("visibilitychange", whenSeen);
          };
        },
        random: Math.random,
        clock,
      },
      {
        locks: navigator.locks,
        channel:
          typeof BroadcastChannel === "undefined"
            ? undefined
            : (name) => new BroadcastChannel(name),
      },
      operatorId,
      recent.cursor,
      store.take,
    );
    return () => {
      stop();
      store.stop();
    };
  }, [ready, answers, client, clock, operatorId, recent, store]);

  return <LiveContext value={store}>{children}</LiveContext>;
}

export function useLiveStore(): LiveStore {
  const store = useContext(LiveContext);
  if (store === undefined) throw new Error("useLiveStore needs LiveProvider above it");
  return store;
}

export function useLiveStatus(): LiveStatus {
  const store = useLiveStore();
  return useSyncExternalStore(store.subscribe, store.read, store.read);
}

/** Why nothing may be decided right now, or undefined: what is shown may be behind (CONSOLE, truth strip). */
export function useDecisionLock(): string | undefined {
  const status = useLiveStatus();
  if (status.resyncing) return "Reading everything again after a gap.";
  if (status.paused) return "Live updates are paused; what you see may be old.";
  if (status.connection.phase === "retrying")
    return "The connection is broken; what you see may be old.";
  return undefined;
}
