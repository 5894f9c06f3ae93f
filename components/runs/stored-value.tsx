"use client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { JsonValue } from "#components/json/json-value.tsx";
import { JsonViewer } from "#components/json/json-viewer.tsx";
import { Button, buttonClass } from "#components/ui/button.tsx";
import { bytesText } from "#components/ui/durations.ts";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { isCutValue } from "#lib/contract/cut-value.ts";
import { parseExactJson } from "#lib/client/exact-json.ts";

/** A whole value of up to so many bytes is drawn on the page; a larger one is only downloaded. */
const drawnBytes = 1024 * 1024;

/** A value as the page has it, or its beginning with ways to the whole when it was too long for the page. */
export function StoredValue({
  value,
  label,
  maxHeight,
  address,
}: {
  value: unknown;
  label: string;
  maxHeight?: number;
  /** Where the whole value is; undefined where only its beginning is kept. */
  address?: string;
}) {
  const [asked, setAsked] = useState(false);
  if (!isCutValue(value))
    return (
      <JsonValue value={value} label={label} {...(maxHeight === undefined ? {} : { maxHeight })} />
    );
  if (asked && address !== undefined) return <Whole address={address} label={label} />;
  return (
    <section
      aria-label={label}
      className="rounded-sm border border-line px-2 py-1"
      data-cut={value.originalBytes}
    >
      <div className="mb-1 flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1 text-soft">
          {label}: its beginning; the whole has {bytesText(value.originalBytes)}.
        </span>
        {address === undefined ? null : (
          <>
            {value.originalBytes <= drawnBytes ? (
              <Button onClick={() => setAsked(true)}>Show the whole</Button>
            ) : null}
            <a href={address} download className={buttonClass()}>
              Download
            </a>
          </>
        )}
      </div>
      <pre className="mono max-h-40 overflow-auto text-table break-all whitespace-pre-wrap">
        <VisibleText text={value.head} />…
      </pre>
    </section>
  );
}

function Whole({ address, label }: { address: string; label: string }) {
  const text = useQuery({
    queryKey: ["body", address],
    queryFn: async ({ signal }) => {
      const answer = await fetch(address, { signal, credentials: "same-origin" });
      if (!answer.ok) throw new Error(`The value could not be read (${answer.status}).`);
      return parseExactJson(await answer.text());
    },
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  if (text.error !== null) return <p className="text-danger">{text.error.message}</p>;
  if (text.data === undefined) return <p className="text-soft">Reading the whole value…</p>;
  return <JsonViewer value={text.data} label={label} />;
}
