"use client";
import { useEffect, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, Input, Select } from "#components/ui/field.tsx";
import { extensionsBeyond, usualExtension } from "./extensions.ts";

/** Moves the expiry; an audited act with its reason (A-07, C013). */
export default function ExtendForm({
  busy,
  leftMillis,
  onCancel,
  onExtend,
}: {
  busy: boolean;
  /** Until the request expires. */
  leftMillis: number;
  onCancel: () => void;
  onExtend: (seconds: number, reason: string) => void;
}) {
  const offered = extensionsBeyond(leftMillis);
  const [picked, setPicked] = useState<number>();
  const seconds = offered.some((one) => one.seconds === picked) ? picked : usualExtension(offered);
  const [reason, setReason] = useState("");
  const box = useRef<HTMLSelectElement>(null);
  useEffect(() => box.current?.focus(), []);
  const empty = reason.trim() === "";
  return (
    // Escape bubbles up from every field of the form.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      aria-label="Extend"
      className="grid items-end gap-2 sm:grid-cols-[120px_1fr_auto]"
      onSubmit={(event) => {
        event.preventDefault();
        if (!empty && !busy && seconds !== undefined) onExtend(seconds, reason.trim());
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <Field label="From now">
        {(ids) => (
          <Select
            {...ids}
            ref={box}
            value={seconds}
            onChange={(event) => setPicked(Number(event.target.value))}
          >
            {offered.length === 0 ? <option value="">no longer than it has</option> : null}
            {offered.map(({ name, seconds: value }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Reason, kept in the audit">
        {(ids) => (
          <Input
            {...ids}
            value={reason}
            maxLength={2_000}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button type="submit" disabled={busy || empty || seconds === undefined}>
          Extend
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
