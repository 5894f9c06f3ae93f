"use client";
import { Filter, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { Button } from "#components/ui/button.tsx";
import { countOf } from "#components/ui/durations.ts";
import { LongText } from "#components/json/long-text.tsx";
import { Section } from "#components/ui/facts.tsx";
import type { RunSnapshot } from "#lib/client/run-snapshot.ts";
import { EarlierTurn } from "./earlier-turn.tsx";
import { usePast } from "./past.tsx";
import { Settlement } from "./settlement.tsx";
import { StoredValue } from "./stored-value.tsx";
import { TroubleOnly } from "./trouble-only.tsx";
import { TurnBlock } from "./turn-block.tsx";
import { turnHeight } from "./turn-height.ts";
import { TurnsInView } from "./turns-in-view.tsx";

/** From this many turns on only those in view are drawn. */
const virtualFrom = 40;

/** What happened, in order: the request, each turn with its calls, what is going on now, the settlement. */
export function Activity({ snapshot }: { snapshot: RunSnapshot }) {
  const { detail } = snapshot;
  const isPast = usePast();
  const url = useUrlState();
  const only = url.get("only") === "trouble";
  // In the past only the turns that came with the moment can be shown as they were then.
  const earlier = isPast ? 0 : detail.earlier.turns;
  const count = earlier + detail.turnViews.length;
  const turnAt = (index: number): ReactNode => {
    const turn =
      detail.turnViews[index - earlier] ?? detail.opening.find((one) => one.turn === index + 1);
    return turn === undefined ? (
      <EarlierTurn turn={index + 1} snapshot={snapshot} />
    ) : (
      <TurnBlock turn={turn} before={detail.turnViews[index - earlier - 1]} snapshot={snapshot} />
    );
  };
  return (
    <div className="max-w-[1100px] pb-8">
      <section aria-label="Request" className="px-4 py-3">
        <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
          <h2 className="font-semibold">Request</h2>
          {detail.toolCalls === 0 ? null : (
            <Button
              kind="quiet"
              className="ml-auto"
              aria-pressed={only}
              onClick={() => url.set({ only: only ? undefined : "trouble" })}
            >
              <Filter aria-hidden size={14} />
              {only ? "Show everything" : "Only what failed or waits"}
            </Button>
          )}
        </div>
        <StoredValue value={detail.input} label="input of the run" maxHeight={220} />
      </section>
      {isPast && detail.earlier.turns > 0 ? (
        <p className="border-t border-line px-4 py-3 text-soft">
          {countOf(detail.earlier.turns, "earlier turn")} with{" "}
          {countOf(detail.earlier.calls, "call")} had ended before; they are shown in the present.
        </p>
      ) : null}
      {only ? (
        <TroubleOnly snapshot={snapshot} />
      ) : count < virtualFrom ? (
        Array.from({ length: count }, (_, index) => <div key={index}>{turnAt(index)}</div>)
      ) : (
        <TurnsInView
          count={count}
          // In the past the first turns are left out, and the others keep their numbers.
          numberOf={(index) => detail.turnViews[index - earlier]?.turn ?? index + 1}
          sizeOf={(index) => turnHeight(detail, index - earlier)}
          turnAt={turnAt}
        />
      )}
      <Asking snapshot={snapshot} />
      <Settlement detail={detail} />
    </div>
  );
}

/** A model request that is open, with the text that has come so far. */
function Asking({ snapshot }: { snapshot: RunSnapshot }) {
  const { asking, drafts, detail } = snapshot;
  const draft = Object.entries(drafts).find(
    ([turn]) => !detail.turnViews.some((one) => String(one.turn) === turn),
  );
  if (asking === null && draft === undefined) return null;
  return (
    <Section
      title={`Turn ${asking ?? draft?.[0] ?? ""}`}
      aside={
        <span className="tone-active tone-text inline-flex items-center gap-1">
          <LoaderCircle aria-hidden size={14} className="animate-spin" /> the model answers
        </span>
      }
    >
      {draft === undefined ? (
        <p className="text-soft">No text yet.</p>
      ) : (
        <LongText text={draft[1]} />
      )}
    </Section>
  );
}
