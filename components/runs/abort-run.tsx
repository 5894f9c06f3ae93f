"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CircleStop } from "lucide-react";
import { ConfirmWithReason } from "#components/feedback/confirm-with-reason.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import { callsOf } from "#lib/client/run-snapshot.ts";
import type { RunDetail } from "#lib/contract/run-views.ts";

/** Ends a run for good; who asked for it stands in its place until it has. */
export function AbortRun({ detail }: { detail: RunDetail }) {
  const { api } = useConsole();
  const client = useQueryClient();
  const { abort, runId, settledAt } = detail;
  return (
    <>
      {abort !== null && settledAt === null ? (
        <span className="text-attention">
          abort requested by <VisibleText text={abort.actor.name} line />
        </span>
      ) : null}
      <ConfirmWithReason
        offered={abort === null && settledAt === null}
        kind="danger"
        title="Abort this run?"
        effect={effect(detail)}
        label="Reason, kept in the record and the audit"
        confirm="Abort the run"
        leave="Keep it running"
        run={async (commandId, reason) => void (await api.abortRun(runId, commandId, { reason }))}
        readTruth={async () => abortTruth(await api.run(runId))}
        onDone={() => client.invalidateQueries({ queryKey: keys.run(runId) })}
      >
        <CircleStop aria-hidden size={15} /> Abort…
      </ConfirmWithReason>
    </>
  );
}

const abortTruth = ({ abort, state }: RunDetail): string =>
  abort === null
    ? `the run is ${state}, and nobody has asked to abort it.`
    : `the run is ${state}; ${abort.actor.name} asked to abort it: ${abort.reason}`;

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
    parts.push(
      `${detail.pendingApprovals === 1 ? "One pending approval is" : `${detail.pendingApprovals} pending approvals are`} withdrawn.`,
    );
  return parts.join(" ");
};
