"use client";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { Retrying } from "#components/feedback/retrying.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { Section } from "#components/ui/facts.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { RunSnapshot } from "#lib/client/run-snapshot.ts";
import { turnsPerRead } from "#lib/contract/http/run-parts.ts";
import { troubleOf } from "./trouble.ts";
import { TurnBlock } from "./turn-block.tsx";
import { turnHeight } from "./turn-height.ts";

/** What ended long ago changes only when somebody resolves a doubt of it. */
const freshMillis = 60_000;

/** The turns that are read together with one of them. */
export function useEarlierTurns(runId: string, turn: number, enabled = true) {
  const { api } = useConsole();
  const first = turn - ((turn - 1) % turnsPerRead);
  return useQuery({
    queryKey: keys.runTurns(runId, first),
    queryFn: ({ signal }) => api.runTurns(runId, first, signal),
    staleTime: freshMillis,
    enabled,
  });
}

/** So long a turn stays near before it is read: scrolling past a hundred turns reads none of them. */
const settleMillis = 120;
/** So far from the window it counts as near, in pixels. */
const nearPixels = 500;

/** Whether the element has stayed in or near what is seen; once it has, always. */
function useStaysNear(element: RefObject<HTMLElement | null>): boolean {
  const [stayed, setStayed] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watcher = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer);
        if (entries.at(-1)?.isIntersecting === true)
          timer = setTimeout(() => setStayed(true), settleMillis);
      },
      { root: document.getElementById("run-view"), rootMargin: `${nearPixels}px 0px` },
    );
    watcher.observe(element.current);
    return () => {
      clearTimeout(timer);
      watcher.disconnect();
    };
  }, [element]);
  return stayed;
}

/** A turn that did not come with the run: read with its neighbours when it stays in view. */
export function EarlierTurn({
  turn,
  snapshot,
  onlyTrouble = false,
}: {
  turn: number;
  snapshot: RunSnapshot;
  /** Draws only its calls that failed, were refused, are in doubt or wait. */
  onlyTrouble?: boolean;
}) {
  const { detail } = snapshot;
  const box = useRef<HTMLDivElement>(null);
  const turns = useEarlierTurns(detail.runId, turn, useStaysNear(box));
  const found = turns.data?.items.find((one) => one.turn === turn);
  if (found !== undefined) {
    const before = turns.data?.items.find((one) => one.turn === turn - 1);
    return onlyTrouble ? (
      <TurnBlock
        turn={{ ...found, calls: troubleOf(found.calls) }}
        before={undefined}
        snapshot={snapshot}
      />
    ) : (
      <TurnBlock turn={found} before={before} snapshot={snapshot} />
    );
  }
  return (
    // As high as the turn is about to be, so that the turns below it are not drawn for nothing.
    <div ref={box} style={{ minHeight: onlyTrouble ? 140 : turnHeight(detail, -1) }}>
      <Section title={`Turn ${turn}`}>
        {turns.error !== null ? (
          <ErrorPanel error={turns.error} onRetry={() => void turns.refetch()} />
        ) : turns.data === undefined ? (
          <>
            <Retrying failure={turns.failureReason} />
            <SkeletonRows rows={6} label={`turn ${turn}`} />
          </>
        ) : (
          <p className="text-soft">No record of this turn is kept.</p>
        )}
      </Section>
    </div>
  );
}
