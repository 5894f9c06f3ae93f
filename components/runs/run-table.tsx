"use client";
/* oxlint-disable jsx-a11y/prefer-tag-over-role, react/incompatible-library */
// Rows placed by a virtualizer cannot be table elements, so their roles are written out.
import { useVirtualizer } from "@tanstack/react-virtual";
import Link from "next/link";
import { useEffect, useRef } from "react";
import { RunStateBadge } from "#components/status/status-badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { countText } from "#components/ui/durations.ts";
import { Age, At, Growing, Length } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { RunListItem } from "#lib/contract/run-views.ts";

const rowHeight = 32;
const narrowHeight = 44;

/** State, title, agent, calls, tokens, age, length. Only the rows in view are drawn. */
export function RunTable({
  rows,
  active,
  onActive,
  more,
  loadingMore,
  onMore,
}: {
  rows: ReadonlyArray<RunListItem>;
  active: number;
  onActive: (index: number) => void;
  more: boolean;
  loadingMore: boolean;
  onMore: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () =>
      window.matchMedia("(min-width: 768px)").matches ? rowHeight : narrowHeight,
    getItemKey: (index) => rows[index]?.runId ?? index,
    overscan: 20,
  });
  useEffect(() => {
    virtualizer.scrollToIndex(active);
  }, [active, virtualizer]);

  return (
    <div ref={box} className="min-h-0 flex-1 overflow-auto bg-panel">
      <div
        role="table"
        aria-label="Runs"
        aria-rowcount={more ? -1 : rows.length + 1}
        className="text-table"
      >
        <div
          role="row"
          className={`${columns} sticky top-0 z-10 h-7 border-b border-line bg-raised font-medium text-soft max-md:hidden`}
        >
          {headings.map(([name, right]) => (
            <span key={name} role="columnheader" className={right ? "text-right" : ""}>
              {name}
            </span>
          ))}
        </div>
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize(), position: "relative" }}>
          {virtualizer.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row === undefined ? null : (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 2}
                data-run={row.runId}
                {...(item.index === active ? { "data-active": true } : {})}
                onPointerDown={() => onActive(item.index)}
                style={{
                  position: "absolute",
                  top: 0,
                  left: 0,
                  right: 0,
                  height: item.size,
                  transform: `translateY(${item.start}px)`,
                }}
                className={`${columns} relative border-b border-line hover:bg-raised data-active:bg-chosen`}
              >
                <Cells row={row} />
              </div>
            );
          })}
        </div>
      </div>
      {more ? (
        <div className="p-3">
          <Button onClick={onMore} disabled={loadingMore}>
            {loadingMore ? "Reading…" : `Show more than ${countText(rows.length)}`}
          </Button>
        </div>
      ) : (
        <p className="p-3 text-soft">That is all.</p>
      )}
    </div>
  );
}

const headings = [
  ["State", false],
  ["Title", false],
  ["Agent", false],
  ["Calls", true],
  ["Tokens", true],
  ["Created", false],
  ["Took or age", true],
] as const;

const columns =
  "grid items-center gap-x-3 px-4 grid-cols-[auto_minmax(0,1fr)_auto] md:grid-cols-[152px_minmax(0,1fr)_90px_44px_64px_144px_92px]";
const wide = "max-md:hidden";

function Cells({ row }: { row: RunListItem }) {
  return (
    <>
      <span role="cell" className="flex min-w-0 items-center overflow-hidden">
        <RunStateBadge state={row.state} compact="when-narrow" />
      </span>
      <span role="cell" className="flex min-w-0 items-center gap-2">
        <Link
          href={`/runs/${encodeURIComponent(row.runId)}`}
          prefetch={false}
          className="min-w-0 truncate font-medium after:absolute after:inset-0 hover:underline"
        >
          {row.title === "" ? "untitled" : <VisibleText text={row.title} line />}
        </Link>
        {row.failureTag === null ? null : (
          <code className="max-w-[45%] shrink-0 truncate text-danger">{row.failureTag}</code>
        )}
        {row.pendingApprovals === 0 ? null : (
          <span className="shrink-0 text-attention">
            {countText(row.pendingApprovals)} to approve
          </span>
        )}
        {row.openUnknowns === 0 ? null : (
          <span className="shrink-0 text-attention">{countText(row.openUnknowns)} in doubt</span>
        )}
      </span>
      <span role="cell" className={`${wide} truncate text-soft`}>
        {row.agentId}
      </span>
      <span role="cell" className={`${wide} mono text-right`}>
        {countText(row.toolCalls)}
      </span>
      <span role="cell" className={`${wide} mono text-right`}>
        {countText(row.inputTokens + row.outputTokens)}
      </span>
      <span role="cell" className={`${wide} text-soft`}>
        <At at={row.createdAt} />
      </span>
      <span role="cell" className="mono text-right whitespace-nowrap text-soft">
        <Took row={row} />
      </span>
    </>
  );
}

function Took({ row }: { row: RunListItem }) {
  if (row.settledAt !== null)
    return <Length millis={row.settledAt - (row.startedAt ?? row.createdAt)} />;
  if (row.startedAt !== null && row.state === "running") return <Growing since={row.startedAt} />;
  return <Age at={row.createdAt} />;
}
