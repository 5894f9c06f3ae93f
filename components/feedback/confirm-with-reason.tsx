"use client";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useConsole } from "#components/shell/console-context.tsx";
import { useDecisionLock } from "#components/shell/live.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import {
  afterFailure,
  commandToSend,
  firstTryStands,
  type SentCommand,
} from "#lib/client/sent-command.ts";
import { ErrorPanel } from "./error-panel.tsx";
import { LostAnswer } from "./lost-answer.tsx";

/**
 * A command that is asked once more with its effect stated, takes a reason for the audit, and acts
 * once however often it is pressed (C062). When an answer is lost it says so, shows what is stored,
 * and sends whatever follows as the same command.
 */
export function ConfirmWithReason({
  children,
  confirm,
  effect,
  kind = "primary",
  label = "Reason, kept in the audit",
  leave = "Leave it",
  offered = true,
  onDone,
  readTruth,
  run,
  title,
}: {
  /** What the opening button shows. */
  children: ReactNode;
  /** The verb of the confirming button. */
  confirm: string;
  effect: string;
  kind?: "primary" | "danger";
  label?: string;
  /** The words of the button that changes nothing. */
  leave?: string;
  /** Whether the opening button is there. An open question stays: what it has asked may be in doubt. */
  offered?: boolean;
  /** Reads again what the command may have changed; after a success, and when a question in doubt is closed. */
  onDone: () => Promise<void>;
  /** What is stored now about the thing that is acted on, in words. */
  readTruth: () => Promise<string>;
  run: (commandId: string, reason: string) => Promise<void>;
  title: string;
}) {
  const { api } = useConsole();
  const lock = useDecisionLock();
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const [sent, setSent] = useState<SentCommand>();
  const [tries, setTries] = useState(0);
  const sending = useMutation({
    mutationFn: (command: SentCommand) => run(command.commandId, reason.trim()),
    onMutate: (command) => setSent(command),
    onError: (error, command) => setSent(afterFailure(command, error)),
    onSettled: () => setTries((count) => count + 1),
    onSuccess: async () => {
      setOpen(false);
      setReason("");
      setSent(undefined);
      await onDone();
    },
  });
  const stands = sending.isError && firstTryStands(sent, sending.error);
  const cannot = reason.trim() === "" || sending.isPending || lock !== undefined || stands;
  const words = reason.trim();
  const show = (next: boolean): void => {
    setOpen(next);
    if (next || sent?.inDoubt !== true) return;
    // A doubt outlives the dialog: opened again it goes on under the same id.
    if (stands) setSent(undefined);
    void onDone();
  };
  return (
    <>
      {offered ? (
        <Button
          {...(kind === "danger" ? { kind } : {})}
          onClick={() => {
            if (sent?.inDoubt !== true) sending.reset();
            setOpen(true);
          }}
        >
          {children}
        </Button>
      ) : null}
      <Dialog open={open} onOpenChange={show} title={title} description={effect}>
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!cannot)
              sending.mutate(
                commandToSend(
                  sent,
                  { verb: confirm, reason: words, content: words },
                  api.newCommandId,
                ),
              );
          }}
        >
          {sent?.inDoubt === true && sending.isError ? (
            <LostAnswer
              attempt={`${sent.commandId} ${tries}`}
              readTruth={readTruth}
              stands={stands}
              said={sent.reason}
            />
          ) : null}
          {sending.isError && !stands ? <ErrorPanel error={sending.error} small /> : null}
          {stands ? null : (
            <Field label={label}>
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
          )}
          <div className="flex items-center gap-2">
            {stands ? null : (
              <Button kind={kind} type="submit" disabled={cannot}>
                {sending.isPending ? "Sending…" : confirm}
              </Button>
            )}
            <Button kind="quiet" onClick={() => show(false)}>
              {stands ? "Close" : leave}
            </Button>
            {lock === undefined ? null : <span className="text-soft">{lock}</span>}
          </div>
        </form>
      </Dialog>
    </>
  );
}
