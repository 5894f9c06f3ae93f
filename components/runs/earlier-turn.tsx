"use client";
import { useQuery } from "@tanstack/react-query";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { Section } from "#components/ui/facts.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { RunSnapshot } from "#lib/client/run-snapshot.ts";
import { turnsPerRead } from "#lib/contract/http/run-parts.ts";
import { TurnBlock } from "./turn-block.tsx";

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

/** A turn that did not come with the run: read with its neighbours when it comes into view. */
export function EarlierTurn({ turn, snapshot }: { turn: number; snapshot: RunSnapshot }) {
  const { runId } = snapshot.detail;
  const turns = useEarlierTurns(runId, turn);
  const found = turns.data?.items.find((one) => one.turn === turn);
  if (found !== undefined) {
    const before = turns.data?.items.find((one) => one.turn === turn - 1);
    return <TurnBlock turn={found} before={before} snapshot={snapshot} />;
  }
  return (
    <Section title={`Turn ${turn}`}>
      {turns.error !== null ? (
        <ErrorPanel error={turns.error} onRetry={() => void turns.refetch()} />
      ) : turns.data === undefined ? (
        <SkeletonRows rows={6} label={`turn ${turn}`} />
      ) : (
        <p className="text-soft">No record of this turn is kept.</p>
      )}
    </Section>
  );
}
