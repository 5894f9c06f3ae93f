"use client";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { exactJsonText } from "#lib/client/exact-json.ts";
import type { JsonRow } from "./json-rows.ts";

/** Where the chosen row stands, with its path and its exact value to copy. A text is copied as the text it is. */
export default function JsonPlaceBar({ row }: { row: JsonRow }) {
  const { value } = row;
  return (
    <div className="flex flex-wrap items-center gap-x-2 border-t border-line px-2 py-0.5 text-table text-soft">
      <code className="min-w-0 break-all">
        <VisibleText text={row.path} line />
      </code>
      <CopyButton text={row.path} what="path" />
      <span className="ml-auto inline-flex items-center">
        value
        <CopyButton
          text={() => (value.kind === "string" ? value.value : exactJsonText(value, 2))}
          what="value"
        />
      </span>
    </div>
  );
}
