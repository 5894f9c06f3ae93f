"use client";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useState } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import { useDecisionLock } from "#components/shell/live.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import { ErrorPanel } from "./error-panel.tsx";

/**
 * A command that is asked once more with its effect stated, takes a reason for the
 * audit, and sends the same command id however often it is pressed (C062).
 */
export function ConfirmWithReason({
  children,
  confirm,
  effect,
  run,
  title,
}: {
  /** What the opening button shows. */
  children: ReactNode;
  /** The verb of the confirming button. */
  confirm: string;
  effect: string;
  run: (commandId: string, reason: string) => Promise<void>;
  title: string;
}) {
  const { api } = useConsole();
  const lock = useDecisionLock();
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const [commandId, setCommandId] = useState("");
  const sending = useMutation({
    mutationFn: () => run(commandId, reason.trim()),
    onSuccess: () => setOpen(false),
  });
  const cannot = reason.trim() === "" || sending.isPending || lock !== undefined;
  return (
    <>
      <Button
        onClick={() => {
          setCommandId(api.newCommandId());
          sending.reset();
          setOpen(true);
        }}
      >
        {children}
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title={title} description={effect}>
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!cannot) sending.mutate();
          }}
        >
          {sending.isError ? <ErrorPanel error={sending.error} small /> : null}
          <Field label="Reason, kept in the audit">
            {(ids) => (
              <TextArea
                {...ids}
                value={reason}
                maxLength={2_000}
                rows={2}
                onChange={(event) => setReason(event.target.value)}
              />
            )}
          </Field>
          <div className="flex items-center gap-2">
            <Button kind="primary" type="submit" disabled={cannot}>
              {sending.isPending ? "Sending…" : confirm}
            </Button>
            <Button kind="quiet" onClick={() => setOpen(false)}>
              Leave it
            </Button>
            {lock === undefined ? null : <span className="text-soft">{lock}</span>}
          </div>
        </form>
      </Dialog>
    </>
  );
}
