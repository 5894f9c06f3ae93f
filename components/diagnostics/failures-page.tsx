"use client";
import { useCallback } from "react";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { Empty } from "#components/feedback/empty.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { JsonViewer } from "#components/json/json-viewer.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { ListAndDetail } from "#components/shell/list-and-detail.tsx";
import { PagedList, useFirstOpen, useRowKeys } from "#components/shell/paged-list.tsx";
import { usePages } from "#components/shell/use-pages.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { cappedText, countOf } from "#components/ui/durations.ts";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Age, At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { exactAt, exactFromValue, parseExactJson } from "#lib/client/exact-json.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { DiagnosticListItem } from "#lib/contract/http/diagnostic-list-item.ts";
import { groupsOf, namesTool } from "./groups.ts";

/** Private evidence of failures, grouped by fingerprint; every failure is kept (C093, OP-04). */
export function FailuresPage() {
  const { api } = useConsole();
  const url = useUrlState();
  const fingerprint = url.get("fingerprint");
  const { query, rows, count } = usePages(keys.diagnostics({ fingerprint }), (cursor, signal) =>
    api.diagnostics({ fingerprint, limit: 100, cursor }, signal),
  );
  const chosen = url.get("diagnostic");
  const { set } = url;
  useFirstOpen(
    rows[0]?.diagnosticId,
    chosen,
    useCallback((id: string) => set({ diagnostic: id }), [set]),
  );
  useRowKeys(
    rows.length,
    rows.findIndex((row) => row.diagnosticId === chosen),
    (index) => url.set({ diagnostic: rows[index]?.diagnosticId }),
    () => url.set({ diagnostic: undefined }),
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className={chosen === undefined ? "" : "max-lg:sr-only"}>
        <PageHeader
          title="Failures"
          aside={
            <>
              {count === undefined ? null : (
                <span className="mono text-soft">{cappedText(count)} kept</span>
              )}
              {fingerprint === undefined ? null : (
                <Button kind="quiet" onClick={() => url.set({ fingerprint: undefined })}>
                  Show every fingerprint
                </Button>
              )}
            </>
          }
        />
      </div>
      <ListAndDetail
        rows={query.data === undefined ? undefined : rows.length}
        backTo="Failures"
        onBack={() => url.set({ diagnostic: undefined })}
        detail={chosen === undefined ? undefined : <Evidence key={chosen} diagnosticId={chosen} />}
        list={
          <PagedList
            query={query}
            rows={rows}
            label="failures"
            rowHeight={29}
            empty={
              <Empty kind="nothing-yet" title="No failure was captured">
                Failures of tools, checks and the model are captured with their cause, redacted and
                bounded.
              </Empty>
            }
          >
            {(items) => <Groups rows={items} chosen={chosen} url={url} />}
          </PagedList>
        }
      />
    </div>
  );
}

function Groups({
  rows,
  chosen,
  url,
}: {
  rows: ReadonlyArray<DiagnosticListItem>;
  chosen: string | undefined;
  url: ReturnType<typeof useUrlState>;
}) {
  return groupsOf(rows).map((group) => (
    <section key={group.fingerprint} aria-label={`Fingerprint ${group.fingerprint}`}>
      <h2 className="flex items-center gap-2 border-b border-line bg-raised px-3 py-1 text-table text-soft">
        <button
          type="button"
          className="underline underline-offset-2"
          onClick={() => url.set({ fingerprint: group.fingerprint })}
        >
          <code>{group.fingerprint.slice(0, 12)}</code>
        </button>
        {countOf(group.rows.length, "failure")} here
      </h2>
      <ul>
        {group.rows.map((row) => (
          <li key={row.diagnosticId}>
            <button
              type="button"
              aria-current={row.diagnosticId === chosen}
              onClick={() => url.set({ diagnostic: row.diagnosticId }, true)}
              className="block w-full border-b border-line px-3 py-1.5 text-left text-table hover:bg-raised aria-[current=true]:bg-chosen"
            >
              <span className="flex gap-2">
                <span className="min-w-0 flex-1 truncate">
                  <VisibleText text={row.title} line />
                </span>
                <span className="shrink-0 text-soft">
                  <Age at={row.capturedAt} /> ago
                </span>
              </span>
              <ToolBeside row={row} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  ));
}

/** The tool, where the line above has not named it. */
function ToolBeside({ row: { title, toolName } }: { row: DiagnosticListItem }) {
  if (toolName === null || namesTool(title, toolName)) return null;
  return (
    <code className="block truncate text-soft">
      <VisibleText text={toolName} line />
    </code>
  );
}

function Evidence({ diagnosticId }: { diagnosticId: string }) {
  const { api } = useConsole();
  const diagnostic = useQuery({
    queryKey: keys.diagnostic(diagnosticId),
    queryFn: async ({ signal }) => {
      const answer = await api.diagnostic(diagnosticId, signal);
      const evidence =
        exactAt(parseExactJson(answer.text), ["diagnostic"]) ??
        exactFromValue(answer.value.diagnostic);
      return { view: answer.value, evidence };
    },
  });
  return (
    <QueryStates query={diagnostic} loading={<SkeletonRows rows={10} label="the evidence" />}>
      {({ view, evidence }) => (
        <article aria-label="Evidence" className="min-h-0 flex-1 overflow-auto bg-panel">
          <header className="px-4 py-3">
            <h2 className="text-title font-semibold break-words">
              <VisibleText text={view.title} line />
            </h2>
          </header>
          <Section title="Where">
            <Facts>
              <Fact name="Captured">
                <At at={view.capturedAt} />
              </Fact>
              <Fact name="Fingerprint">
                <code className="break-all">{view.fingerprint}</code>
                <CopyButton text={view.fingerprint} what="the fingerprint" />
              </Fact>
              <Fact name="Tool">
                {view.toolName === null ? "none" : <VisibleText text={view.toolName} line />}
              </Fact>
              <Fact name="Run">
                {view.runId === null ? (
                  "none"
                ) : (
                  <Link
                    href={`/runs/${encodeURIComponent(view.runId)}`}
                    className="text-active underline underline-offset-2"
                  >
                    {view.runId}
                  </Link>
                )}
              </Fact>
            </Facts>
          </Section>
          <Section title="Evidence, as captured">
            <p className="mb-2 text-soft">
              Redacted, cut and circular places carry their markers exactly as they were captured.
            </p>
            <JsonViewer value={evidence} label="diagnostic" maxHeight={600} />
          </Section>
        </article>
      )}
    </QueryStates>
  );
}
