"use client";
import { useQueryClient } from "@tanstack/react-query";
import { ConfirmWithReason } from "#components/feedback/confirm-with-reason.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import type { DenialListItem } from "#lib/contract/denial-views.ts";

/** Takes note of a denial, in words that stay with it. */
export function Acknowledge({ row }: { row: DenialListItem }) {
  const { api } = useConsole();
  const me = useMe();
  const client = useQueryClient();
  if (!isAtLeast(me, "operator")) return null;
  return (
    <ConfirmWithReason
      offered={row.acknowledgedAt === null}
      title={`Acknowledge the ${row.kind === "denial" ? "denial" : "failed check"} of ${row.toolName}?`}
      effect="It leaves the open list and keeps your note. Nothing runs again, and the run is not told."
      label="Note"
      confirm="Acknowledge"
      leave="Back"
      run={async (commandId, note) =>
        void (await api.acknowledgeDenial(row.denialId, commandId, { note }))
      }
      readTruth={async () => acknowledgedTruth(await api.denial(row.denialId))}
      onDone={() => client.invalidateQueries({ queryKey: ["denials"] })}
    >
      Acknowledge…
    </ConfirmWithReason>
  );
}

const acknowledgedTruth = ({ acknowledgedAt, acknowledgedBy, note }: DenialListItem): string =>
  acknowledgedAt === null
    ? "it is still open."
    : `${acknowledgedBy ?? "somebody"} acknowledged it: ${note ?? ""}`;
