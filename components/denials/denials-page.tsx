"use client";
import { ShieldAlert, ShieldX } from "lucide-react";
import Link from "next/link";
import { Empty } from "#components/feedback/empty.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { PagedList } from "#components/shell/paged-list.tsx";
import { usePages } from "#components/shell/use-pages.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { cappedText } from "#components/ui/durations.ts";
import { Select } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Age, At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { DenialListItem } from "#lib/contract/denial-views.ts";
import { Acknowledge } from "./acknowledge.tsx";

/** Two different things, never one word for both: the policy said no, or the check itself failed (OP-06). */
const kindLook = {
  denial: { Icon: ShieldX, word: "denied by policy", tone: "text-danger" },
  "check-error": { Icon: ShieldAlert, word: "check failed", tone: "text-attention" },
} as const;

export function DenialsPage() {
  const { api } = useConsole();
  const url = useUrlState();
  const kind = url.get("kind");
  const acknowledged = url.get("acknowledged") ?? "no";
  const filter = { kind, acknowledged: acknowledged === "all" ? undefined : acknowledged };
  const { query, rows, count } = usePages(keys.denials(filter), (cursor, signal) =>
    api.denials({ ...filter, limit: 100, cursor }, signal),
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader
        title="Denials"
        aside={
          count === undefined ? null : (
            <span className="mono text-soft">
              {cappedText(count)} {acknowledged === "no" ? "to look at" : "match"}
            </span>
          )
        }
      >
        <Select
          aria-label="Kind"
          value={kind ?? ""}
          onChange={(event) => url.set({ kind: event.target.value })}
          className="!w-auto"
        >
          <option value="">denials and check errors</option>
          <option value="denial">denied by policy</option>
          <option value="check-error">check failed</option>
        </Select>
        <Select
          aria-label="Acknowledged"
          value={acknowledged}
          onChange={(event) => url.set({ acknowledged: event.target.value })}
          className="!w-auto"
        >
          <option value="no">not acknowledged</option>
          <option value="yes">acknowledged</option>
          <option value="all">all</option>
        </Select>
        <span className="text-soft">Acknowledging runs nothing again.</span>
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-auto bg-panel">
        <PagedList
          query={query}
          rows={rows}
          label="denials"
          rowHeight={53}
          empty={
            <Empty
              kind={acknowledged === "no" && kind === undefined ? "nothing-yet" : "nothing-matches"}
              title={
                acknowledged === "no" && kind === undefined
                  ? "Nothing to look at"
                  : "Nothing matches"
              }
            >
              What a policy refuses and what a failing check stops appears here, even when nobody
              watches the run.
            </Empty>
          }
        >
          {(items) => (
            <ul aria-label="Denials">
              {items.map((row) => (
                <Denial key={row.denialId} row={row} />
              ))}
            </ul>
          )}
        </PagedList>
      </div>
    </div>
  );
}

const link = "text-active underline underline-offset-2";

function Denial({ row }: { row: DenialListItem }) {
  const look = kindLook[row.kind];
  return (
    <li className="grid gap-x-4 gap-y-1 border-b border-line px-4 py-2 md:grid-cols-[150px_minmax(0,1fr)_auto]">
      <span className={`inline-flex items-center gap-1 ${look.tone}`}>
        <look.Icon aria-hidden size={14} /> {look.word}
      </span>
      <div className="min-w-0">
        <p className="break-words">
          <code className="font-semibold">
            <VisibleText text={row.toolName} line />
          </code>{" "}
          <VisibleText text={row.reason} />
        </p>
        <p className="flex flex-wrap gap-x-3 text-table text-soft">
          <span>
            <At at={row.deniedAt} /> (<Age at={row.deniedAt} /> ago)
          </span>
          <Link
            href={`/runs/${encodeURIComponent(row.runId)}?turn=${row.turn}&call=${encodeURIComponent(row.callId)}`}
            className={link}
          >
            what the run did next
          </Link>
          {row.diagnosticId === null ? null : (
            <Link
              href={`/failures?diagnostic=${encodeURIComponent(row.diagnosticId)}`}
              className={link}
            >
              private evidence
            </Link>
          )}
          <span className="min-w-0 truncate">
            <VisibleText text={row.runTitle} line />
          </span>
        </p>
        {row.acknowledgedAt === null ? null : (
          <p className="text-table text-soft">
            acknowledged by <VisibleText text={row.acknowledgedBy ?? "somebody"} line /> at{" "}
            <At at={row.acknowledgedAt} />: <VisibleText text={row.note ?? ""} />
          </p>
        )}
      </div>
      <Acknowledge row={row} />
    </li>
  );
}
