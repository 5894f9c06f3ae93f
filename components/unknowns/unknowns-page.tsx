"use client";
import dynamic from "next/dynamic";
import { useCallback } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { ListAndDetail } from "#components/shell/list-and-detail.tsx";
import { LookBack, useMomentAddress } from "#components/shell/moment.tsx";
import { PagedList, useFirstOpen, useRowKeys } from "#components/shell/paged-list.tsx";
import { usePages } from "#components/shell/use-pages.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { callStateLook } from "#components/status/call-state.ts";
import { StatusBadge } from "#components/status/status-badge.tsx";
import { cappedText } from "#components/ui/durations.ts";
import { Select } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Age, At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { UnknownListItem } from "#lib/contract/unknown-views.ts";
import { reasonText } from "./reason-text.ts";
import { UnknownDetailPane } from "./unknown-detail.tsx";

const UnknownsPast = dynamic(() => import("./unknowns-past.tsx"), { ssr: false });

/** The effects in doubt as they are, or with `?at=` as they were after an event. */
export function UnknownsPage() {
  const at = useMomentAddress();
  return at === undefined ? <Doubts /> : <UnknownsPast at={at} />;
}

/** Effects whose outcome is in doubt, oldest first, each settled by a person with evidence. */
function Doubts() {
  const { api } = useConsole();
  const url = useUrlState();
  const state = url.get("state") === "resolved" ? "resolved" : "open";
  const { query, rows, count } = usePages(keys.unknowns({ state }), (cursor, signal) =>
    api.unknowns({ state, limit: 100, cursor }, signal),
  );
  const chosen = url.get("unknown");
  const { set } = url;
  useFirstOpen(
    rows[0]?.unknownId,
    chosen,
    useCallback((id: string) => set({ unknown: id }), [set]),
  );
  useRowKeys(
    rows.length,
    rows.findIndex((row) => row.unknownId === chosen),
    (index) => url.set({ unknown: rows[index]?.unknownId }),
    () => url.set({ unknown: undefined }),
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className={chosen === undefined ? "" : "max-lg:sr-only"}>
        <PageHeader
          title="Unknowns"
          aside={
            <>
              {count === undefined ? null : (
                <span className="mono text-soft">
                  {cappedText(count)} {state}
                </span>
              )}
              {query.data?.pages[0] === undefined ? null : (
                <LookBack asOf={query.data.pages[0].asOf} />
              )}
              <label className="ml-auto flex items-center gap-2" htmlFor="unknowns-state">
                <span className="text-soft">State</span>
                <Select
                  id="unknowns-state"
                  value={state}
                  onChange={(event) => url.set({ state: event.target.value, unknown: undefined })}
                  className="!w-auto"
                >
                  <option value="open">open</option>
                  <option value="resolved">resolved</option>
                </Select>
              </label>
            </>
          }
        />
      </div>
      <ListAndDetail
        rows={query.data === undefined ? undefined : rows.length}
        backTo="Unknowns"
        onBack={() => url.set({ unknown: undefined })}
        detail={
          chosen === undefined ? undefined : <UnknownDetailPane key={chosen} unknownId={chosen} />
        }
        list={
          <PagedList
            query={query}
            rows={rows}
            label="effects in doubt"
            rowHeight={69}
            empty={
              <Empty
                kind={state === "open" ? "nothing-yet" : "nothing-matches"}
                title={state === "open" ? "No effect is in doubt" : "None was resolved yet"}
              >
                {state === "open"
                  ? "When a process is lost between sending an effect and recording its answer, the call appears here and is never repeated by itself."
                  : "Resolutions stay here with their evidence."}
              </Empty>
            }
          >
            {(items) => (
              <ul aria-label="Effects in doubt">
                {items.map((row) => (
                  <UnknownRow
                    key={row.unknownId}
                    row={row}
                    chosen={row.unknownId === chosen}
                    onChoose={() => url.set({ unknown: row.unknownId }, true)}
                  />
                ))}
              </ul>
            )}
          </PagedList>
        }
      />
    </div>
  );
}

function UnknownRow({
  row,
  chosen,
  onChoose,
}: {
  row: UnknownListItem;
  chosen: boolean;
  onChoose: () => void;
}) {
  return (
    <li>
      <button
        type="button"
        aria-current={chosen}
        onClick={onChoose}
        className="block w-full border-b border-line px-3 py-2 text-left text-table hover:bg-raised aria-[current=true]:bg-chosen"
      >
        <span className="flex items-center gap-2">
          <StatusBadge look={callStateLook.unknown} compact />
          <code className="min-w-0 truncate font-semibold">
            <VisibleText text={row.toolName} line />
          </code>
          <span className="ml-auto text-soft">
            {row.resolvedAt === null ? (
              <Age at={row.unknownAt} />
            ) : (
              <At at={row.resolvedAt} timeOnly />
            )}
          </span>
        </span>
        <span className="mt-0.5 block truncate">
          <VisibleText text={row.runTitle} line />
        </span>
        <span className="mt-0.5 block truncate text-soft">
          {reasonText(row.reason)}
          {row.afterSettlement ? "; the run has ended, nothing waits for it" : ""}
          {row.resolvedBy === null ? "" : `; resolved by ${row.resolvedBy}`}
        </span>
      </button>
    </li>
  );
}
