"use client";
import { useEffect, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";

const mostCharacters = 2_000;

/** A denial needs its reason: it is what the model is told. */
export function DenyForm({
  detail,
  busy,
  onCancel,
  onDeny,
}: {
  detail: ApprovalDetail;
  busy: boolean;
  onCancel: () => void;
  onDeny: (reason: string) => void;
}) {
  const [reason, setReason] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  const terminal = detail.content.denial === "terminal";
  const empty = reason.trim() === "";
  return (
    // Escape bubbles up from every field of the form.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      aria-label="Deny"
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!empty && !busy) onDeny(reason.trim());
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
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="danger" type="submit" disabled={busy || empty}>
          Deny {detail.toolName}
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Back
        </Button>
        {empty ? <span className="text-soft">A reason is needed.</span> : null}
      </div>
    </form>
  );
}
