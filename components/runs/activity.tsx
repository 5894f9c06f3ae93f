"use client";
import { LoaderCircle } from "lucide-react";
import { JsonValue } from "#components/json/json-value.tsx";
import { LongText } from "#components/json/long-text.tsx";
import { Section } from "#components/ui/facts.tsx";
import type { RunSnapshot } from "#lib/client/run-snapshot.ts";
import { Settlement } from "./settlement.tsx";
import { TurnBlock } from "./turn-block.tsx";

/** What happened, in order: the request, each turn with its calls, what is going on now, the settlement. */
export function Activity({ snapshot }: { snapshot: RunSnapshot }) {
  const { detail } = snapshot;
  return (
    <div className="max-w-[1100px] pb-8">
      <section aria-label="Request" className="px-4 py-3">
        <h2 className="mb-2 font-semibold">Request</h2>
        <JsonValue value={detail.input} label="input of the run" maxHeight={220} />
      </section>
      {detail.turnViews.map((turn, index) => (
        <TurnBlock
          key={turn.turn}
          turn={turn}
          before={detail.turnViews[index - 1]}
          snapshot={snapshot}
        />
      ))}
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
