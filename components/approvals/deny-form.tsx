"use client";
import dynamic from "next/dynamic";
import { useEffect, useRef, useState } from "react";
import type { EditedJson } from "#components/json/json-editor.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import type { ApprovalCard } from "#lib/client/approval-card.ts";
import { exactJsonText } from "#lib/client/exact-json.ts";

const mostCharacters = 2_000;

// Most denials suggest nothing: the editor is fetched when it is first asked for.
const SuggestionEditor = dynamic(() => import("./suggestion-editor.tsx"), { ssr: false });

/** A denial needs its reason: it is what the model is told. It may suggest other arguments. */
export default function DenyForm({
  card,
  busy,
  refusedSuggestion,
  onCancel,
  onDeny,
}: {
  card: ApprovalCard;
  busy: boolean;
  /** What the server said of the suggestion that was sent. */
  refusedSuggestion: string | undefined;
  onCancel: () => void;
  onDeny: (reason: string, suggestion: string | undefined) => void;
}) {
  const { detail } = card;
  const [reason, setReason] = useState("");
  const [edited, setEdited] = useState<EditedJson>();
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  const terminal = detail.content.denial === "terminal";
  const empty = reason.trim() === "";
  const unreadable = edited !== undefined && !edited.isReadable;
  const startingText = exactJsonText(card.effectiveParameters, 2);
  const unchanged = edited?.text === startingText;
  return (
    // Escape bubbles up from every field of the form.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      aria-label="Deny"
      className="flex max-h-[60dvh] flex-col gap-2 overflow-auto"
      onSubmit={(event) => {
        event.preventDefault();
        if (!empty && !busy && !unreadable && !unchanged) onDeny(reason.trim(), edited?.text);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <Field
        label="Why not"
        hint={
          terminal
            ? "The model receives this reason, and the run ends: denial of this tool is terminal."
            : "The model receives exactly this text and may try something else."
        }
      >
        {(ids) => (
          <TextArea
            {...ids}
            ref={box}
            value={reason}
            maxLength={mostCharacters}
            rows={2}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      {edited === undefined ? null : (
        <SuggestionEditor
          detail={detail}
          declared={card.effectiveParameters}
          edited={edited}
          onEdit={setEdited}
          refused={refusedSuggestion}
        />
      )}
      <div className="sticky bottom-0 flex flex-wrap items-center gap-2 bg-panel py-1">
        <Button kind="danger" type="submit" disabled={busy || empty || unreadable || unchanged}>
          Deny {detail.toolName}
          {edited === undefined ? "" : " and suggest"}
        </Button>
        {terminal ? null : (
          <Button
            onClick={() =>
              setEdited(edited === undefined ? { text: startingText, isReadable: true } : undefined)
            }
            aria-expanded={edited !== undefined}
          >
            {edited === undefined ? "Suggest other arguments…" : "Suggest nothing"}
          </Button>
        )}
        <Button kind="quiet" onClick={onCancel}>
          Back
        </Button>
        {empty ? <span className="text-soft">A reason is needed.</span> : null}
        {!empty && unchanged ? (
          <span className="text-soft">Change the arguments, or suggest nothing.</span>
        ) : null}
      </div>
    </form>
  );
}
