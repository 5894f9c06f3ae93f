"use client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { JsonViewer } from "#components/json/json-viewer.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useMomentAddress } from "#components/shell/moment.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { bytesText } from "#components/ui/durations.ts";
import { At } from "#components/ui/time.tsx";
import { parseExactJson } from "#lib/client/exact-json.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { RecordView } from "#lib/contract/run-views.ts";

/** The run's records as stored, each with its digest and the digest of the one before it. */
export function Records({ runId }: { runId: string }) {
  const { api } = useConsole();
  // In the past only what stood then.
  const at = useMomentAddress();
  const records = useInfiniteQuery({
    queryKey: keys.records(runId, at),
    queryFn: ({ pageParam, signal }) =>
      api.records(runId, { limit: 100, cursor: pageParam, at }, signal),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (last) => last.next,
  });
  return (
    <QueryStates query={records} loading={<SkeletonRows rows={12} label="records" />}>
      {(data) => {
        const rows = data.pages.flatMap((page) => page.items);
        if (rows.length === 0) return <Empty kind="nothing-yet" title="No record yet" />;
        return (
          <div className="pb-6">
            <div className="flex items-center gap-3 px-4 py-2 text-soft">
              <span>Canonical text exactly as stored and digested; one chain per thread.</span>
              <Button onClick={() => download(runId, rows)}>
                <Download aria-hidden size={14} /> Download{" "}
                {records.hasNextPage ? "what is shown" : "all"}
              </Button>
            </div>
            <ol aria-label="Records">
              {rows.map((record) => (
                <RecordRow key={record.sequence} record={record} />
              ))}
            </ol>
            {records.hasNextPage ? (
              <div className="p-4">
                <Button
                  disabled={records.isFetchingNextPage}
                  onClick={() => void records.fetchNextPage()}
                >
                  Show more
                </Button>
              </div>
            ) : null}
          </div>
        );
      }}
    </QueryStates>
  );
}

/** One record a line, bodies byte for byte as stored. */
const download = (runId: string, rows: ReadonlyArray<RecordView>): void => {
  const lines = rows.map((row) => JSON.stringify(row)).join("\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${lines}\n`], { type: "application/x-ndjson" }));
  link.download = `records-${runId}.ndjson`;
  link.click();
  URL.revokeObjectURL(link.href);
};

function RecordRow({ record }: { record: RecordView }) {
  const [open, setOpen] = useState(false);
  return (
    <li
      className="border-b border-line"
      style={{ contentVisibility: "auto", containIntrinsicSize: "auto 33px" }}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="grid w-full grid-cols-[64px_minmax(0,1fr)_auto] items-center gap-3 px-4 py-1.5 text-left text-table hover:bg-raised sm:grid-cols-[64px_200px_90px_90px_minmax(0,1fr)]"
      >
        <span className="mono text-right text-soft">{record.sequence}</span>
        <span className="truncate font-medium">{record.kind}</span>
        <At at={record.recordedAt} timeOnly />
        <span className="mono text-right text-soft max-sm:hidden">
          {bytesText(record.body.length)}
        </span>
        <code className="truncate text-soft max-sm:hidden">{record.digest}</code>
      </button>
      {open ? <Body record={record} /> : null}
    </li>
  );
}

function Body({ record }: { record: RecordView }) {
  const value = useMemo(() => parseExactJson(record.body), [record.body]);
  return (
    <div className="flex flex-col gap-2 px-4 pb-3">
      <p className="text-table break-all text-soft">
        digest <code>{record.digest}</code> <CopyButton text={record.digest} what="the digest" />{" "}
        after <code>{record.previousDigest}</code>, epoch {record.epoch}
      </p>
      <JsonViewer value={value} label={`record ${record.sequence}, ${record.kind}`} />
    </div>
  );
}
