"use client";
import { useMemo } from "react";
import { exactFromValue } from "#lib/client/exact-json.ts";
import { JsonViewer } from "./json-viewer.tsx";
import { LongText } from "./long-text.tsx";

/** A value that is already decoded. A lone text is drawn as text, not as JSON. */
export function JsonValue({
  value,
  label,
  maxHeight,
}: {
  value: unknown;
  label: string;
  maxHeight?: number;
}) {
  const exact = useMemo(() => exactFromValue(value), [value]);
  if (exact.kind === "string") {
    return (
      <section
        className="max-h-96 overflow-auto rounded-sm border border-line px-2 py-1"
        // A region that scrolls must be reachable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        aria-label={label}
      >
        <LongText text={exact.value} />
      </section>
    );
  }
  return (
    <JsonViewer value={exact} label={label} {...(maxHeight === undefined ? {} : { maxHeight })} />
  );
}
