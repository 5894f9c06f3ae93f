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
      <div
        className="max-h-96 overflow-auto rounded-sm border border-line px-2 py-1"
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        <LongText text={exact.value} />
      </div>
    );
  }
  return (
    <JsonViewer value={exact} label={label} {...(maxHeight === undefined ? {} : { maxHeight })} />
  );
}
