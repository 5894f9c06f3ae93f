"use client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import type { DenialListItem } from "#lib/contract/views.ts";

/** Takes note of a denial, in words that stay with it. */
export function Acknowledge({ row }: { row: DenialListItem }) {
  const { api } = useConsole();
  const me = useMe();
  const client = useQueryClient();
  const [commandId, setCommandId] = useState<string>();
  const [note, setNote] = useState("");
  const acknowledge = useMutation({
    mutationFn: (id: string) => api.acknowledgeDenial(row.denialId, id, { note: note.trim() }),
    onSuccess: () => {
      setCommandId(undefined);
      return client.invalidateQueries({ queryKey: ["denials"] });
    },
  });
  if (!isAtLeast(me, "operator")) return null;
  const empty = note.trim() === "";
  return (
    <>
      <Button onClick={() => setCommandId(api.newCommandId())}>Acknowledge…</Button>
      <Dialog
        open={commandId !== undefined}
        onOpenChange={(open) => (open ? undefined : setCommandId(undefined))}
        title={`Acknowledge the ${row.kind === "denial" ? "denial" : "failed check"} of ${row.toolName}?`}
        description="It leaves the open list and keeps your note. Nothing runs again, and the run is not told."
      >
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!empty && !acknowledge.isPending && commandId !== undefined)
              acknowledge.mutate(commandId);
          }}
        >
          {acknowledge.isError ? <ErrorPanel error={acknowledge.error} small /> : null}
          <Field label="Note">
            {(ids) => (
              <TextArea
                {...ids}
                value={note}
                rows={2}
                maxLength={2_000}
                onChange={(event) => setNote(event.target.value)}
              />
            )}
          </Field>
          <div className="flex gap-2">
            <Button kind="primary" type="submit" disabled={empty || acknowledge.isPending}>
              {acknowledge.isPending ? "Sending…" : "Acknowledge"}
            </Button>
            <Button kind="quiet" onClick={() => setCommandId(undefined)}>
              Back
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
