"use client";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { type KeyAction, meaningOf } from "./key-table.ts";

type PageAction = Exclude<KeyAction, { goTo: string }>;
export type KeyHandlers = Partial<Record<PageAction, () => void>>;

interface KeyRegistry {
  readonly add: (handlers: { readonly current: KeyHandlers }) => () => void;
}

const KeyContext = createContext<KeyRegistry>({ add: () => () => {} });

/** While a component is on the page, these keys are its own; the newest one wins. */
export function useKeys(handlers: KeyHandlers): void {
  const { add } = useContext(KeyContext);
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => add(latest), [add]);
}

/** Typing is typing: no key acts from inside a control that takes text (C061). */
const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** Controls on which Enter already means something. */
const takesEnter = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("a, button, summary, [role=option]") !== null;

const pairMillis = 1_200;

export function KeyProvider({
  goTo,
  children,
}: {
  goTo: (href: string) => void;
  children: ReactNode;
}) {
  const stack = useRef<Array<{ readonly current: KeyHandlers }>>([]);
  const [registry] = useState<KeyRegistry>(() => ({
    add: (handlers) => {
      stack.current.push(handlers);
      return () => {
        stack.current = stack.current.filter((one) => one !== handlers);
      };
    },
  }));
  useEffect(() => {
    let begun: { readonly key: string; readonly at: number } | undefined;
    const onKeyDown = (event: KeyboardEvent): void => {
      const command = event.ctrlKey || event.metaKey;
      if (event.altKey || event.repeat || event.isComposing) return;
      // In a dialog only the dialog's own keys count; Escape is handled by it too.
      const inDialog = document.querySelector("[role=dialog]") !== null;
      if (takesText(event.target) && event.key !== "Escape" && !command) return;
      if (event.key === "Enter" && takesEnter(event.target)) return;
      const after =
        begun !== undefined && event.timeStamp - begun.at < pairMillis ? begun.key : undefined;
      begun = undefined;
      const meaning = meaningOf({ key: event.key, command, after });
      if (meaning === undefined || (inDialog && meaning !== "palette")) return;
      if (meaning === "begins") {
        begun = { key: event.key, at: event.timeStamp };
        return;
      }
      if (typeof meaning === "object") {
        event.preventDefault();
        goTo(meaning.goTo);
        return;
      }
      const handler = stack.current.findLast((one) => one.current[meaning] !== undefined)?.current[
        meaning
      ];
      if (handler === undefined) return;
      event.preventDefault();
      handler();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [goTo]);
  return <KeyContext value={registry}>{children}</KeyContext>;
}
