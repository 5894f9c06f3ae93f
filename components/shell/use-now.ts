"use client";
import { createContext, useContext, useSyncExternalStore } from "react";
import { useConsole } from "./console-context.tsx";

/** One timer for every age and countdown of the page. */
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const one of listeners) one();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer !== undefined) {
      clearInterval(timer);
      timer = undefined;
    }
  };
};

const FixedNowContext = createContext<number | undefined>(undefined);

/** Where time stands still: ages and lengths inside are those of this moment. */
export const FixedNow = FixedNowContext;

/** The server's time in milliseconds, at whole seconds; draws again every second. */
export function useNow(): number {
  const { clock } = useConsole();
  const fixed = useContext(FixedNowContext);
  const now = useSyncExternalStore(
    subscribe,
    () => Math.floor(clock.now() / 1_000) * 1_000,
    () => 0,
  );
  return fixed ?? now;
}
