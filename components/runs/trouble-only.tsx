"use client";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { Retrying } from "#components/feedback/retrying.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { Button } from "#components/ui/button.tsx";
import { countOf } from "#components/ui/durations.ts";
import type { RunSnapshot } from "#lib/client/run-snapshot.ts";
import { EarlierTurn } from "./earlier-turn.tsx";
import { usePast } from "./past.tsx";
import { hasTrouble, troubleOf } from "./trouble.ts";
import { TurnBlock } from "./turn-block.tsx";
import { TurnsInView } from "./turns-in-view.tsx";
import { useEarlierTimes } from "./use-run-times.ts";

/**
 * The calls of the whole run that failed, were refused, are in doubt or wait, under their turns. Which
 * of the turns that did not come with the run have any is known from their calls' states, and only
 * those are read.
 */
export function TroubleOnly({ snapshot }: { snapshot: RunSnapshot }) {
  const { detail } = snapshot;
  const isPast = usePast();
  const { left, query, turns } = useEarlierTimes(detail);
  const earlier = turns.filter((turn) => hasTrouble(turn.calls) || hasTrouble(turn.inner ?? []));
  const newest = detail.turnViews.flatMap((turn) => {
    const calls = troubleOf(turn.calls);
    return calls.length === 0 ? [] : [{ ...turn, calls }];
  });
  const note = "border-t border-line px-4 py-3 text-soft";
  return (
    <>
      {isPast || !query.isLoading ? null : (
        <>
          <Retrying failure={query.failureReason} />
          <SkeletonRows rows={3} label="the earlier turns" />
        </>
      )}
      {query.error === null ? null : (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      )}
      {left === 0 ? null : (
        <p className={`flex flex-wrap items-center gap-2 ${note}`}>
          The first {countOf(left, "call")} of the run {left === 1 ? "is" : "are"} not looked
          through yet.
          <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Look through more
          </Button>
        </p>
      )}
      {earlier.length + newest.length > 0 ? (
        <TurnsInView
          count={earlier.length + newest.length}
          sizeOf={() => 140}
          numberOf={(index) =>
            earlier[index]?.turn ?? newest[index - earlier.length]?.turn ?? index
          }
          turnAt={(index) => {
            const before = earlier[index];
            if (before !== undefined)
              return <EarlierTurn turn={before.turn} snapshot={snapshot} onlyTrouble />;
            const turn = newest[index - earlier.length];
            return turn === undefined ? null : (
              <TurnBlock turn={turn} before={undefined} snapshot={snapshot} />
            );
          }}
        />
      ) : query.isLoading ? null : (
        <p className={note}>
          No call{" "}
          {left === 0 && !(isPast && detail.earlier.turns > 0)
            ? "of this run"
            : "of the turns looked through"}{" "}
          failed, was refused, is in doubt or waits.
        </p>
      )}
    </>
  );
}
