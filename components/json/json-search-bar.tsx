"use client";
import { ChevronDown, ChevronUp } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { countText } from "#components/ui/durations.ts";
import type { ExactJson } from "#lib/client/exact-json.ts";
import { type JsonHit, jsonHits, mostHits } from "./json-search.ts";

const step =
  "inline-flex h-6 w-6 items-center justify-center rounded-sm border border-edge text-ink hover:bg-raised disabled:opacity-60";

/** Searches names and values of the whole value; Enter and Shift+Enter step through the matches. */
export default function JsonSearchBar({
  value,
  label,
  onGo,
}: {
  value: ExactJson;
  label: string;
  onGo: (hit: JsonHit) => void;
}) {
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(-1);
  const looked = useDeferredValue(wanted);
  const hits = useMemo(() => jsonHits(value, looked), [value, looked]);
  const go = (move: 1 | -1): void => {
    if (hits.length === 0) return;
    const next =
      at < 0 ? (move === 1 ? 0 : hits.length - 1) : (at + move + hits.length) % hits.length;
    const hit = hits[next];
    setAt(next);
    if (hit !== undefined) onGo(hit);
  };
  const capped = hits.length >= mostHits ? "+" : "";
  return (
    <search className="flex items-center gap-1">
      <input
        aria-label={`Search in ${label}`}
        placeholder="search"
        value={wanted}
        onChange={(event) => {
          setWanted(event.target.value);
          setAt(-1);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          go(event.shiftKey ? -1 : 1);
        }}
        className="h-6 w-32 rounded-sm border border-edge bg-panel px-1 text-ink"
      />
      {wanted === "" ? null : (
        <>
          <button
            type="button"
            className={step}
            disabled={hits.length === 0}
            onClick={() => go(-1)}
          >
            <ChevronUp aria-hidden size={13} />
            <span className="sr-only">Previous match</span>
          </button>
          <button type="button" className={step} disabled={hits.length === 0} onClick={() => go(1)}>
            <ChevronDown aria-hidden size={13} />
            <span className="sr-only">Next match</span>
          </button>
          <output className="whitespace-nowrap">
            {hits.length === 0
              ? "no match"
              : `${at < 0 ? "" : `${countText(at + 1)} of `}${countText(hits.length)}${capped}${at < 0 ? (hits.length === 1 ? " match" : " matches") : ""}`}
          </output>
        </>
      )}
    </search>
  );
}
