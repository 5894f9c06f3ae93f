"use client";
import { Check, X } from "lucide-react";
import Link from "next/link";
import { createElement, useState } from "react";
import { Empty } from "#components/feedback/empty.tsx";
import { JsonValue } from "#components/json/json-value.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { WhatTheySaw } from "#components/shell/moment.tsx";
import { PagedList } from "#components/shell/paged-list.tsx";
import { usePages } from "#components/shell/use-pages.ts";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { cappedText } from "#components/ui/durations.ts";
import { Fact, Facts } from "#components/ui/facts.tsx";
import { Select } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { AuditView } from "#lib/contract/audit-views.ts";
import { auditVerbs, verbIcon } from "./verbs.ts";

/** Every operator act, refused ones too, each chained to the one before it (C097, C099). */
export function AuditPage() {
  const { api } = useConsole();
  const url = useUrlState();
  const filter = { verb: url.get("verb"), accepted: url.get("accepted"), runId: url.get("runId") };
  const { query, rows, count } = usePages(keys.audit(filter), (cursor, signal) =>
    api.audit({ ...filter, limit: 100, cursor }, signal),
  );
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <PageHeader
        title="Audit"
        aside={
          count === undefined ? null : (
            <span className="mono text-soft">
              {cappedText(count)} {count.value === 1 ? "act" : "acts"}
            </span>
          )
        }
      >
        <VerbFilter verb={filter.verb ?? ""} onVerb={(verb) => url.set({ verb })} />
        <Select
          aria-label="Accepted or refused"
          value={filter.accepted ?? ""}
          onChange={(event) => url.set({ accepted: event.target.value })}
          className="!w-auto"
        >
          <option value="">accepted and refused</option>
          <option value="yes">accepted</option>
          <option value="no">refused</option>
        </Select>
        {filter.runId === undefined ? null : (
          <span className="flex min-w-0 items-center gap-1 text-soft">
            only of run <code className="min-w-0 truncate text-ink">{filter.runId}</code>
            <Button kind="quiet" onClick={() => url.set({ runId: undefined })}>
              Show all runs
            </Button>
          </span>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-auto bg-panel">
        <PagedList
          query={query}
          rows={rows}
          label="acts"
          rowHeight={29}
          empty={
            <Empty
              kind={filtered ? "nothing-matches" : "nothing-yet"}
              title={filtered ? "No act matches" : "Nobody has done anything yet"}
            >
              Whatever a person decides, refuses, extends, resolves, aborts or exports appears here,
              refused acts too.
            </Empty>
          }
        >
          {(items) => (
            <>
              <Heads />
              <ol aria-label="Acts">
                {items.map((row) => (
                  <Act key={row.sequence} row={row} />
                ))}
              </ol>
            </>
          )}
        </PagedList>
      </div>
    </div>
  );
}

function VerbFilter({ verb, onVerb }: { verb: string; onVerb: (verb: string) => void }) {
  // A link may name a verb that only another version knows.
  const known = verb === "" || auditVerbs.includes(verb) ? auditVerbs : [...auditVerbs, verb];
  return (
    <Select
      aria-label="Verb"
      value={verb}
      onChange={(event) => onVerb(event.target.value)}
      className="!w-auto"
    >
      <option value="">every verb</option>
      {known.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </Select>
  );
}

const columns = "md:grid-cols-[60px_150px_90px_170px_150px_minmax(0,1fr)]";

/** Names the columns for whoever sees them; each row says for itself what it is. */
const Heads = () => (
  <p
    aria-hidden
    className={`sticky top-0 grid gap-x-3 border-b border-line bg-raised px-4 py-1 text-table text-soft max-md:hidden ${columns}`}
  >
    <span className="text-right">No.</span>
    <span>When</span>
    <span>Outcome</span>
    <span>Verb</span>
    <span>Who</span>
    <span>Reason, else what it was about</span>
  </p>
);

const VerbIcon = ({ verb }: { verb: string }) =>
  createElement(verbIcon(verb), {
    "aria-hidden": true,
    size: 13,
    className: "shrink-0 text-soft",
  });

function Act({ row }: { row: AuditView }) {
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
        className={`grid w-full grid-cols-[90px_minmax(0,1fr)] items-center gap-x-3 px-4 py-1.5 text-left text-table hover:bg-raised ${columns}`}
      >
        <span className="mono text-right text-soft max-md:hidden">{row.sequence}</span>
        <span className="max-md:order-last max-md:col-start-2 max-md:text-soft">
          <At at={row.at} />
        </span>
        <span className={`inline-flex items-center gap-1 ${row.accepted ? "" : "text-danger"}`}>
          {row.accepted ? <Check aria-hidden size={13} /> : <X aria-hidden size={13} />}
          {row.accepted ? "accepted" : "refused"}
        </span>
        <span className="flex min-w-0 items-center gap-1.5 font-medium">
          <VerbIcon verb={row.verb} />
          <span className="truncate">{row.verb}</span>
        </span>
        <span className="truncate">
          <VisibleText text={row.actor.name} line />
        </span>
        <span className="truncate text-soft max-md:hidden">
          <VisibleText text={row.reason === "" ? row.target : row.reason} line />
        </span>
      </button>
      {open ? <ActDetail row={row} /> : null}
    </li>
  );
}

function ActDetail({ row }: { row: AuditView }) {
  return (
    <div className="flex flex-col gap-2 border-t border-line px-4 py-3">
      <Facts>
        <Fact name="At">
          <At at={row.at} />
        </Fact>
        <Fact name="Who">
          <VisibleText text={row.actor.name} line /> (<code>{row.actor.id}</code>, {row.actor.kind})
        </Fact>
        <Fact name="What">
          <code>{row.verb}</code> on <code className="break-all">{row.target}</code>
        </Fact>
        {row.reason === "" ? null : (
          <Fact name="Reason">
            <VisibleText text={row.reason} />
          </Fact>
        )}
        {row.runId === null ? null : (
          <Fact name="Run">
            <Link
              href={`/runs/${encodeURIComponent(row.runId)}`}
              className="text-active underline underline-offset-2"
            >
              {row.runId}
            </Link>
          </Fact>
        )}
        {row.moment === undefined ? null : (
          <Fact name="What they saw">
            <span className="flex flex-wrap gap-x-3">
              {row.target.startsWith("apr_") ? (
                <WhatTheySaw
                  moment={row.moment}
                  to={`/approvals?request=${encodeURIComponent(row.target)}`}
                >
                  the queue before this act
                </WhatTheySaw>
              ) : null}
              {row.target.startsWith("unk_") ? (
                <WhatTheySaw moment={row.moment} to="/unknowns">
                  the doubts before this act
                </WhatTheySaw>
              ) : null}
              {row.runId === null ? null : (
                <WhatTheySaw moment={row.moment} to={`/runs/${encodeURIComponent(row.runId)}`}>
                  the run before this act
                </WhatTheySaw>
              )}
            </span>
          </Fact>
        )}
        {row.commandId === null ? null : (
          <Fact name="Command">
            <code className="break-all">{row.commandId}</code>
          </Fact>
        )}
        <Fact name="Digest">
          <code className="break-all">{row.digest}</code>
          <CopyButton text={row.digest} what="the digest" />
        </Fact>
        <Fact name="After">
          <code className="break-all">{row.previousDigest}</code>
        </Fact>
      </Facts>
      <div className="grid gap-2 lg:grid-cols-2">
        <JsonValue value={row.before} label="before" maxHeight={240} />
        <JsonValue value={row.after} label="after" maxHeight={240} />
      </div>
    </div>
  );
}
