"use client";
import Link from "next/link";
import { Empty } from "#components/feedback/empty.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { JsonViewer } from "#components/json/json-viewer.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { ListAndDetail } from "#components/shell/list-and-detail.tsx";
import { PastQueue } from "#components/shell/past-queue.tsx";
import { useUrlState } from "#components/shell/use-url-state.ts";
import { RiskBadge } from "#components/status/status-badge.tsx";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { At, Countdown } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { ApprovalsMoment, ApprovalThen } from "#lib/contract/http/moments.ts";
import { ApprovalList } from "./approval-list.tsx";
import { useApprovalCard } from "./use-approvals.ts";

/** The queue as it was after an event: what was open, and what each request showed. Nothing can be decided. */
export default function ApprovalsPast({ at }: { at: number }) {
  const { api } = useConsole();
  return (
    <PastQueue
      title="Approvals as they were"
      loading="the queue as it was"
      queryKey={keys.approvalsAt(at)}
      read={(signal) => api.approvalsAt(at, signal)}
    >
      {(then) => <Queue then={then} />}
    </PastQueue>
  );
}

function Queue({ then }: { then: ApprovalsMoment }) {
  const url = useUrlState();
  const chosen = then.items.find(({ requestId }) => requestId === url.get("request"));
  return (
    <ListAndDetail
      rows={then.items.length}
      backTo="Approvals as they were"
      onBack={() => url.set({ request: undefined })}
      detail={
        chosen === undefined ? undefined : (
          <CardThen key={chosen.requestId} row={chosen} sequence={then.sequence} />
        )
      }
      list={
        then.items.length === 0 ? (
          <Empty kind="nothing-matches" title="Nothing waited for anybody then">
            After this event no call was waiting for a person's decision.
          </Empty>
        ) : (
          <ApprovalList
            rows={then.items}
            chosen={chosen?.requestId}
            onChoose={({ requestId }) => url.set({ request: requestId }, true)}
          />
        )
      }
    />
  );
}

const namesOf = (people: ReadonlyArray<{ readonly name: string }>): string =>
  people.map(({ name }) => name).join(", ");

function CardThen({ row, sequence }: { row: ApprovalThen; sequence: number }) {
  // What was asked never changes, so today's card has the arguments that people had before them.
  const card = useApprovalCard(row.requestId);
  return (
    <article
      aria-label={`Approval of ${row.toolName} as it was`}
      className="min-h-0 flex-1 overflow-auto bg-panel"
      tabIndex={-1}
    >
      <header className="flex flex-col gap-1 px-4 py-3">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <h2 className="mono min-w-0 text-title font-semibold break-all">
            <VisibleText text={row.toolName} line />
          </h2>
          <RiskBadge risk={row.risk} />
          <span className="ml-auto">
            {row.expiresAt === null ? (
              <span className="text-soft">never expires</span>
            ) : (
              <Countdown from={row.requestedAt} until={row.expiresAt} />
            )}
          </span>
        </div>
        <p className="break-words [overflow-wrap:anywhere]">
          <VisibleText text={row.summary} />
        </p>
      </header>
      <Section title="As it stood">
        <Facts>
          <Fact name="Asked">
            <At at={row.requestedAt} /> by <VisibleText text={row.requester} line />
          </Fact>
          <Fact name="People needed">
            {row.approversRequired}, {row.approversMissing} still missing
          </Fact>
          <Fact name="Had approved">
            {row.approvers.length === 0 ? (
              "nobody"
            ) : (
              <VisibleText text={namesOf(row.approvers)} line />
            )}
          </Fact>
          <Fact name="Was looking">
            {row.lookers.length === 0 ? (
              "nobody is recorded"
            ) : (
              <VisibleText text={namesOf(row.lookers)} line />
            )}
          </Fact>
          <Fact name="Run">
            <Link
              href={`/runs/${encodeURIComponent(row.runId)}?at=${sequence}`}
              className="text-active underline underline-offset-2"
            >
              as it was then
            </Link>
          </Fact>
        </Facts>
      </Section>
      <Section title="Would have run with these arguments">
        <QueryStates
          query={card}
          runId={row.runId}
          loading={<SkeletonRows rows={4} label="the arguments" />}
        >
          {({ effectiveParameters }) => (
            <JsonViewer value={effectiveParameters} label="arguments, as they were asked about" />
          )}
        </QueryStates>
      </Section>
    </article>
  );
}
