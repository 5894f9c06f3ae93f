"use client";
import { Info } from "lucide-react";
import { useMemo } from "react";
import { Section } from "#components/ui/facts.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { ExactJson } from "#lib/client/exact-json.ts";
import { previewOf } from "./registry.ts";

/**
 * What the call would do, in the words of the tool's reviewed preview; nothing where it has none. It never
 * stands in for the arguments: they follow it, exactly as they will run.
 */
export default function ReviewedPreview({
  toolName,
  parameters,
}: {
  toolName: string;
  parameters: ExactJson;
}) {
  const preview = useMemo(() => previewOf(toolName, parameters), [toolName, parameters]);
  if (preview === undefined) return null;
  if (preview.kind === "unreadable")
    return (
      <p
        role="note"
        data-preview="unreadable"
        className="tone-attention tone-wash tone-edge mx-4 mb-3 flex gap-2 rounded-sm border p-2"
      >
        <Info aria-hidden size={15} className="tone-text mt-0.5 shrink-0" />
        <span>
          The preview of this tool cannot read these arguments:{" "}
          <VisibleText text={preview.why} line />. Only the arguments themselves are shown.
        </span>
      </p>
    );
  return (
    <Section
      title="In short"
      aside={<span className="text-soft">read from the arguments below; they are what counts</span>}
    >
      <dl
        data-preview="facts"
        className="grid grid-cols-[max-content_minmax(0,1fr)] items-baseline gap-x-4 gap-y-1"
      >
        {preview.facts.map((fact) => (
          <div key={fact.name} className="contents">
            <dt className="text-soft">{fact.name}</dt>
            <dd
              className={`min-w-0 break-words whitespace-pre-line [overflow-wrap:anywhere] ${fact.main === true ? "text-title font-semibold" : ""}`}
            >
              {fact.value === "" ? <span className="text-soft">empty</span> : null}
              <VisibleText text={fact.value} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
