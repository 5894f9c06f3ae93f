"use client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useState } from "react";
import { type Answers, makeAnswers } from "#lib/client/answers.ts";
import { type Api, makeApi } from "#lib/client/api.ts";
import { type EarlyReads, takeEarlyRead } from "#lib/client/early-reads.ts";
import { makeRecentEvents, type RecentEvents } from "#lib/client/recent-events.ts";
import { repeatAfterMillis, worthRepeating } from "#lib/client/repeat-reads.ts";
import { makeServerClock, type ServerClock } from "#lib/client/server-clock.ts";

/** What every page works with. */
export interface Console {
  readonly answers: Answers;
  readonly api: Api;
  readonly clock: ServerClock;
  readonly recent: RecentEvents;
}

/** A clock that does not jump when somebody sets the computer's. */
export const localNow = (): number => performance.timeOrigin + performance.now();

const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

declare global {
  interface Window extends EarlyReads {}
}

const makeConsole = (): Console => {
  const answers = makeAnswers();
  const clock = makeServerClock(localNow);
  return {
    answers,
    clock,
    recent: makeRecentEvents(),
    api: makeApi({
      fetch: (...request) => fetch(...request),
      now: localNow,
      clock,
      randomId,
      onSuccess: answers.came,
      early: (path) =>
        typeof window === "undefined" ? undefined : takeEarlyRead(window, path, localNow()),
    }),
  };
};

const makeQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // The event stream says when something is old; a second look at a page does not.
        staleTime: 60_000,
        gcTime: 300_000,
        refetchOnWindowFocus: false,
        retry: worthRepeating,
        retryDelay: repeatAfterMillis,
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });

const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const value = useContext(ConsoleContext);
  if (value === undefined) throw new Error("useConsole needs ConsoleProvider above it");
  return value;
}

export function ConsoleProvider({ children }: { children: ReactNode }) {
  const [value] = useState(makeConsole);
  const [client] = useState(makeQueryClient);
  return (
    <ConsoleContext value={value}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </ConsoleContext>
  );
}
