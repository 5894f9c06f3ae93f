"use client";
import { usePathname, useSearchParams } from "next/navigation";
import { useCallback, useMemo } from "react";

/** Filters and selection live in the address, so that a reload, a link and Back keep them (C104). */
export function useUrlState(): {
  readonly get: (name: string) => string | undefined;
  readonly all: (name: string) => ReadonlyArray<string>;
  /** `undefined` or empty removes a name; `push` makes a step that Back undoes. */
  readonly set: (
    change: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
    push?: boolean,
  ) => void;
} {
  const parameters = useSearchParams();
  const pathname = usePathname();
  const get = useCallback((name: string) => parameters.get(name) ?? undefined, [parameters]);
  const all = useCallback((name: string) => parameters.getAll(name), [parameters]);
  const set = useCallback(
    (
      change: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
      push = false,
    ) => {
      const next = new URLSearchParams(window.location.search);
      for (const [name, value] of Object.entries(change)) {
        next.delete(name);
        for (const one of typeof value === "string" ? [value] : (value ?? [])) {
          if (one !== "") next.append(name, one);
        }
      }
      const text = next.toString();
      const address = `${pathname}${text === "" ? "" : `?${text}`}`;
      if (push) window.history.pushState(null, "", address);
      else window.history.replaceState(null, "", address);
    },
    [pathname],
  );
  return useMemo(() => ({ get, all, set }), [get, all, set]);
}
