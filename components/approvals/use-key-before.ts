"use client";
import { useEffect, useRef } from "react";
import { localNow } from "#components/shell/console-context.tsx";

const modifiers = new Set(["Shift", "Control", "Alt", "Meta"]);

/** The local time of the key before the newest one, anywhere on the page. */
export function useKeyBefore(): { readonly current: number } {
  const before = useRef(Number.NEGATIVE_INFINITY);
  const newest = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const note = (event: KeyboardEvent): void => {
      if (modifiers.has(event.key)) return;
      before.current = newest.current;
      newest.current = localNow();
    };
    window.addEventListener("keydown", note, { capture: true });
    return () => window.removeEventListener("keydown", note, { capture: true });
  }, []);
  return before;
}
