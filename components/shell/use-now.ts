"use client";
import { useSyncExternalStore } from "react";
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

/** The server's time in milliseconds, at whole seconds; draws again every second. */
export function useNow(): number {
  const { clock } = useConsole();
  return useSyncExternalStore(
    subscribe,
    () => Math.floor(clock.now() / 1_000) * 1_000,
    () => 0,
  );
}
