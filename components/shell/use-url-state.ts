"use client";
import { useSearchParams } from "next/navigation";
import { useCallback, useMemo, useSyncExternalStore } from "react";

type Change = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>;

const listeners = new Set<() => void>();
let watching = false;

const tell = (): void => {
  for (const listener of listeners) listener();
};

/** Whoever moves the address, this page, a link or Back, the readers hear of it. */
const watch = (): void => {
  if (watching) return;
  watching = true;
  window.addEventListener("popstate", tell);
  for (const name of ["pushState", "replaceState"] as const) {
    const move = window.history[name].bind(window.history);
    window.history[name] = (...parts) => {
      move(...parts);
      // The router moves the address while it renders: readers hear of it when that is over.
      queueMicrotask(tell);
    };
  }
};

const subscribe = (listener: () => void): (() => void) => {
  watch();
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/**
 * Filters and selection live in the address, so that a reload, a link and Back keep them (C104). A change
 * is seen at once: it does not go through the router, which would wait for a transition.
 */
export function useUrlState(): {
  readonly get: (name: string) => string | undefined;
  readonly all: (name: string) => ReadonlyArray<string>;
  /** `undefined` or empty removes a name; `push` makes a step that Back undoes. */
  readonly set: (change: Change, push?: boolean) => void;
} {
  const first = useSearchParams();
  const search = useSyncExternalStore(
    subscribe,
    () => window.location.search.replace(/^\?/, ""),
    () => first.toString(),
  );
  const parameters = useMemo(() => new URLSearchParams(search), [search]);
  const get = useCallback((name: string) => parameters.get(name) ?? undefined, [parameters]);
  const all = useCallback((name: string) => parameters.getAll(name), [parameters]);
  return useMemo(() => ({ get, all, set: setAddress }), [get, all]);
}

const setAddress = (change: Change, push = false): void => {
  const next = new URLSearchParams(window.location.search);
  for (const [name, value] of Object.entries(change)) {
    next.delete(name);
    for (const one of typeof value === "string" ? [value] : (value ?? [])) {
      if (one !== "") next.append(name, one);
    }
  }
  const text = next.toString();
  const address = `${window.location.pathname}${text === "" ? "" : `?${text}`}`;
  // The router's own state goes along, so that Back finds the page it belongs to.
  if (push) window.history.pushState(window.history.state, "", address);
  else window.history.replaceState(window.history.state, "", address);
};
