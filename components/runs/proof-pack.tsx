"use client";
import { useMutation } from "@tanstack/react-query";
import { FileCheck } from "lucide-react";
import { useState } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { downloadBlob } from "#components/json/download-json.ts";
import { useConsole } from "#components/shell/console-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { bytesText } from "#components/ui/durations.ts";

/** The run's records, approvals and audit rows as one file that anybody can check without this server. */
export function ProofPack({ runId }: { runId: string }) {
  const { api } = useConsole();
  const [open, setOpen] = useState(false);
  const pack = useMutation({
    mutationFn: () => api.exportProof(runId, api.newCommandId()),
    onSuccess: ({ blob, name }) => downloadBlob(blob, name),
  });
  const command = `npx effect-agent verify ${pack.data?.name ?? "FILE"}`;
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <FileCheck aria-hidden size={15} /> Proof…
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Proof pack of this run"
        description="One file with every record, approval, decision and audit row of this run and their digests. The export itself is audited. It holds arguments and results: give it only to whoever may read them."
      >
        {pack.isError ? <ErrorPanel error={pack.error} small /> : null}
        {pack.data === undefined ? null : (
          <output className="flex flex-col gap-1">
            <span>
              Saved as <code className="break-all">{pack.data.name}</code> (
              {bytesText(pack.data.blob.size)}). Check it anywhere, without this server:
            </span>
            <span className="flex items-center gap-1 rounded-sm border border-line px-2 py-1">
              <code className="min-w-0 flex-1 break-all">{command}</code>
              <CopyButton text={command} what="the command" />
            </span>
            {pack.data.lastDigest === undefined ? null : (
              <span className="text-table text-soft">
                The run's last record has the digest{" "}
                <code className="break-all">{pack.data.lastDigest}</code>
                <CopyButton text={pack.data.lastDigest} what="the digest" />. Note it elsewhere:
                later, <code>--known</code> with it shows that a file is the one of this
                installation.
              </span>
            )}
          </output>
        )}
        <div className="flex gap-2">
          <Button kind="primary" disabled={pack.isPending} onClick={() => pack.mutate()}>
            {pack.isPending
              ? "Collecting…"
              : pack.data === undefined
                ? "Download"
                : "Download again"}
          </Button>
          <Button kind="quiet" onClick={() => setOpen(false)}>
            Close
          </Button>
        </div>
      </Dialog>
    </>
  );
}
