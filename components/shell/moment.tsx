"use client";
import { ChevronLeft, ChevronRight, History } from "lucide-react";
import Link from "next/link";
import { Button } from "#components/ui/button.tsx";
import { countText } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { At } from "#components/ui/time.tsx";
import { momentRows } from "#lib/contract/http/moment-rows.ts";
import type { MomentPlace } from "#lib/contract/http/moments.ts";
import { useUrlState } from "./use-url-state.ts";

const sequenceText = /^\d{1,15}$/;

/** The sequence that `?at=` asks for; undefined in the present. */
export function useMomentAddress(): number | undefined {
  const text = useUrlState().get("at");
  return text !== undefined && sequenceText.test(text) ? Number(text) : undefined;
}

/** Says that this is the past, which event made it, and the ways to its neighbours and back to now. */
export function MomentBanner({ moment }: { moment: MomentPlace }) {
  const url = useUrlState();
  const goTo = (sequence: number | null): void => {
    if (sequence !== null) url.set({ at: String(sequence) });
  };
  return (
    <output
      className="tone-attention tone-wash tone-edge flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5"
      data-past={moment.sequence}
    >
      <History aria-hidden size={15} className="text-attention" />
      <span className="font-semibold">This is the past</span>
      <span>
        as it was after event <span className="mono">{countText(moment.sequence)}</span>,{" "}
        <code>{moment.kind}</code>, <At at={moment.at} />. Nothing can be done here.
      </span>
      <span className="ml-auto flex items-center gap-1">
        <Button
          kind="quiet"
          className="px-2"
          disabled={moment.previous === null}
          onClick={() => goTo(moment.previous)}
        >
          <ChevronLeft aria-hidden size={14} /> event before
        </Button>
        <Button
          kind="quiet"
          className="px-2"
          disabled={moment.next === null}
          onClick={() => goTo(moment.next)}
        >
          event after <ChevronRight aria-hidden size={14} />
        </Button>
        <Button onClick={() => url.set({ at: undefined })}>Back to now</Button>
      </span>
    </output>
  );
}

/** A busy queue's past is read up to a bound: what it leaves out is told, with where it can be seen. */
export function NotAll() {
  return (
    <p role="note" data-not-all className="max-w-prose">
      <span className="font-semibold text-attention">Not everything that was open is listed.</span>{" "}
      A look back reads the {countText(2 * momentRows)} oldest rows that were open within an hour of
      the event, and lists {countText(momentRows)} of them at most. The page of a run shows its own
      past whole.
    </p>
  );
}

/** What a queue's past cannot hold: retention takes a run's rows with it. */
export function WithoutPutAway() {
  return <p className="text-soft">Runs that were put away since are not in it.</p>;
}

/** Over a past that cannot be shown: the refusal stands below it, and this leads out. */
export function NoPast({ title }: { title: string }) {
  const url = useUrlState();
  return (
    <PageHeader
      title={title}
      aside={
        <Button className="ml-auto" onClick={() => url.set({ at: undefined })}>
          Back to now
        </Button>
      }
    />
  );
}

/** The way into the past: what is shown after its newest event, from where one goes back event by event. */
export function LookBack({ asOf }: { asOf: number }) {
  const url = useUrlState();
  return (
    <Button kind="quiet" onClick={() => url.set({ at: String(asOf) }, true)}>
      <History aria-hidden size={14} /> Look back
    </Button>
  );
}

/**
 * From an act to what the person had before them: the page as it was one event before the act's own.
 *
 * @param moment the act's event; absent where the log does not have it any more
 */
export function WhatTheySaw({
  moment,
  to,
  children,
}: {
  moment: number | undefined;
  to: string;
  children: string;
}) {
  if (moment === undefined || moment < 2) return null;
  return (
    <Link
      href={`${to}${to.includes("?") ? "&" : "?"}at=${moment - 1}`}
      className="text-active underline underline-offset-2"
    >
      {children}
    </Link>
  );
}
