"use client";
import { useState } from "react";
import { countText } from "#components/ui/durations.ts";
import { VisibleText } from "#components/ui/visible-text.tsx";

/** Characters of a text that are drawn at first, and with each further press. */
export const firstCharacters = 600;
const stepCharacters = 20_000;

const button = "mx-1 rounded-sm border border-edge px-1 text-xs text-ink hover:bg-raised";

/** Cuts between characters, never inside one. */
const cutAt = (text: string, length: number): number => {
  const code = text.charCodeAt(length - 1);
  return code >= 0xd800 && code <= 0xdbff ? length - 1 : length;
};

/**
 * A text of any length: the beginning, how much is hidden, and ways to see the rest and its end, so that
 * a bad tail cannot hide behind a long head (C051). An empty text says so.
 */
export function LongText({ text, quoted = false }: { text: string; quoted?: boolean }) {
  const [shown, setShown] = useState(firstCharacters);
  const [end, setEnd] = useState(false);
  const quote = quoted ? '"' : "";
  if (text === "") return <span className="text-soft">{quoted ? '"" empty text' : "empty"}</span>;
  if (text.length <= shown + 60) {
    return (
      <span className="break-words whitespace-pre-wrap [overflow-wrap:anywhere]">
        {quote}
        <VisibleText text={text} />
        {quote}
      </span>
    );
  }
  const head = cutAt(text, shown);
  const tailStart = cutAt(text, text.length - firstCharacters);
  const hidden = Math.max(0, (end ? tailStart : text.length) - head);
  return (
    <span className="break-words whitespace-pre-wrap [overflow-wrap:anywhere]">
      {quote}
      <VisibleText text={text.slice(0, head)} />
      <span className="tone-attention tone-wash mx-1 rounded-sm border border-attention px-1 text-xs text-attention">
        {countText(hidden)} characters hidden
      </span>
      <button type="button" className={button} onClick={() => setShown(shown + stepCharacters)}>
        show {countText(Math.min(stepCharacters, hidden))} more
      </button>
      {end ? <VisibleText text={text.slice(tailStart)} /> : null}
      {end ? (
        quote
      ) : (
        <button type="button" className={button} onClick={() => setEnd(true)}>
          show the end
        </button>
      )}
    </span>
  );
}
