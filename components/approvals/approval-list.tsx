"use client";
import { useEffect, useRef } from "react";
import { ApprovalStateBadge, RiskBadge } from "#components/status/status-badge.tsx";
import { Age, At, Countdown } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { ApprovalListItem } from "#lib/contract/approval-views.ts";

/** Rows of the queue: what would happen, by which tool, for whom, and how long is left. */
export function ApprovalList({
  rows,
  chosen,
  onChoose,
}: {
  rows: ReadonlyArray<ApprovalListItem>;
  chosen: string | undefined;
  onChoose: (row: ApprovalListItem) => void;
}) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (chosen === undefined) return;
    list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <ul ref={list} aria-label="Approvals" className="text-table">
      {rows.map((row) => (
        <li
          key={row.requestId}
          style={{ contentVisibility: "auto", containIntrinsicSize: "auto 74px" }}
        >
          <button
            type="button"
            aria-current={row.requestId === chosen}
            onClick={() => onChoose(row)}
            className="block w-full border-b border-line px-3 py-2 text-left hover:bg-raised aria-[current=true]:bg-chosen"
            data-request={row.requestId}
          >
            <span className="flex items-center gap-2">
              {row.state === "pending" ? (
                <RiskBadge risk={row.risk} compact />
              ) : (
                <ApprovalStateBadge state={row.state} />
              )}
              <code className="min-w-0 truncate font-semibold">
                <VisibleText text={row.toolName} line />
              </code>
              <span className="ml-auto shrink-0 text-soft">
                <Deadline row={row} />
              </span>
            </span>
            <span className="mt-0.5 line-clamp-2 break-words [overflow-wrap:anywhere]">
              <VisibleText text={row.summary} line />
            </span>
            <span className="mt-0.5 flex gap-2 text-soft">
              <span className="min-w-0 truncate">
                <VisibleText text={row.runTitle} line />
              </span>
              <span className="ml-auto shrink-0">
                {row.batchPending > 1 ? `${row.batchPending} in this batch · ` : ""}
                asked <Age at={row.requestedAt} /> ago
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Deadline({ row }: { row: ApprovalListItem }) {
  if (row.state === "pending") {
    return row.expiresAt === null ? (
      "never expires"
    ) : (
      <Countdown from={row.requestedAt} until={row.expiresAt} />
    );
  }
  return (
    <>
      {row.decidedBy === null ? "" : <VisibleText text={`${row.decidedBy} `} line />}
      {row.decidedAt === null ? null : <At at={row.decidedAt} timeOnly />}
    </>
  );
}
