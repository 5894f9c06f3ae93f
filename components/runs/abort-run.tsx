"use client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleStop } from "lucide-react";
import { useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useDecisionLock } from "#components/shell/live.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import { callsOf } from "#lib/client/run-snapshot.ts";
import type { RunDetail } from "#lib/contract/views.ts";

/** Asks once, states the effect, and sends the same command id however often it is pressed (C062). */
export function AbortRun({ detail }: { detail: RunDetail }) {
  const { api } = useConsole();
  const client = useQueryClient();
  const lock = useDecisionLock();
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const [commandId, setCommandId] = useState("");
  const abort = useMutation({
    mutationFn: () => api.abortRun(detail.runId, commandId, { reason: reason.trim() }),
    onSuccess: () => setOpen(false),
    onSettled: () => client.invalidateQueries({ queryKey: keys.run(detail.runId) }),
  });
  if (detail.abort !== null) {
    return (
      <span className="text-attention">
        abort requested by <VisibleText text={detail.abort.actor.name} line />
      </span>
    );
  }
  const empty = reason.trim() === "";
  return (
    <>
      <Button
        kind="danger"
        onClick={() => {
          setCommandId(api.newCommandId());
          setOpen(true);
        }}
      >
        <CircleStop aria-hidden size={15} /> Abort…
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Abort this run?"
        description={effect(detail)}
      >
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!empty && !abort.isPending && lock === undefined) abort.mutate();
          }}
        >
          {abort.isError ? <ErrorPanel error={abort.error} small /> : null}
          <Field label="Reason, kept in the record and the audit">
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
            <Button
              kind="danger"
              type="submit"
              disabled={empty || abort.isPending || lock !== undefined}
            >
              {abort.isPending ? "Sending…" : "Abort the run"}
            </Button>
            <Button kind="quiet" onClick={() => setOpen(false)}>
              Keep it running
            </Button>
            {lock === undefined ? null : <span className="text-soft">{lock}</span>}
          </div>
        </form>
      </Dialog>
    </>
  );
}

/** What aborting does to this very run. */
const effect = (detail: RunDetail): string => {
  const running = callsOf(detail).filter((call) => call.state === "running").length;
  const parts = [
    "No further model request and no further call starts. What has already happened is not undone.",
  ];
  if (running > 0) {
    parts.push(
      `${running === 1 ? "One call is" : `${running} calls are`} running: what it did is recorded as unknown unless it has answered.`,
    );
  }
  if (detail.pendingApprovals > 0)
    parts.push(`${detail.pendingApprovals} pending approval(s) are withdrawn.`);
  return parts.join(" ");
};
