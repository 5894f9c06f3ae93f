"use client";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from "react";

const AnnounceContext = createContext<(words: string) => void>(() => {});

/** Says something to screen readers, batched: the one polite live region of the page (C106). */
export const useAnnounce = (): ((words: string) => void) => useContext(AnnounceContext);

const batchMillis = 1_500;

export function LiveRegion({ children }: { children: ReactNode }) {
  const [words, setWords] = useState("");
  const waiting = useRef<Array<string>>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const announce = useCallback((more: string) => {
    if (waiting.current.length < 5) waiting.current.push(more);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setWords(waiting.current.splice(0).join(". "));
    }, batchMillis);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <AnnounceContext value={announce}>
      {children}
      <output aria-live="polite" className="sr-only" data-live-region>
        {words}
      </output>
    </AnnounceContext>
  );
}
