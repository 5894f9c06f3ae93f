"use client";
import Link from "next/link";
import { LookBack } from "#components/shell/moment.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { RunStateBadge } from "#components/status/status-badge.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { countOf, countText, durationText } from "#components/ui/durations.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { At, Growing, Length } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { visibleText } from "#lib/contract/json/visible-text.ts";
import type { RunDetail } from "#lib/contract/run-views.ts";
import { AbortRun } from "./abort-run.tsx";
import { usePast } from "./past.tsx";
import { ProofPack } from "./proof-pack.tsx";

/** What the run is, where it stands and what it has used. */
export function RunHeader({ detail }: { detail: RunDetail }) {
  const me = useMe();
  const isPast = usePast();
  return (
    <PageHeader
      title={
        <span className="line-clamp-1" title={visibleText(detail.title, { singleLine: true }).text}>
          <VisibleText text={detail.title === "" ? "untitled" : detail.title} line />
        </span>
      }
      aside={
        <>
          <RunStateBadge state={detail.state} />
          <span className="ml-auto flex items-center gap-2">
            {!isPast && isAtLeast(me, "operator") ? <ProofPack runId={detail.runId} /> : null}
            {isPast ? null : <LookBack asOf={detail.asOf} />}
            {!isPast && isAtLeast(me, "operator") ? <AbortRun detail={detail} /> : null}
          </span>
        </>
      }
    >
      <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-table text-soft">
        <li>
          run <code className="text-ink">{detail.runId.slice(0, 16)}</code>
          <CopyButton text={detail.runId} what="the run id" />
        </li>
        <li>
          agent{" "}
          <Link
            prefetch={false}
            href={`/agents?agent=${encodeURIComponent(detail.agentId)}`}
            className="text-ink underline underline-offset-2"
          >
            {detail.agentId}
          </Link>
        </li>
        <li>
          thread{" "}
          <Link
            prefetch={false}
            href={`/runs?threadId=${encodeURIComponent(detail.threadId)}`}
            className="mono text-ink underline underline-offset-2"
          >
            {detail.threadId.slice(0, 12)}
          </Link>
          <CopyButton text={detail.threadId} what="the thread id" />
        </li>
        <li>
          by <VisibleText text={detail.requester} line />
        </li>
        {detail.modelId === null ? null : (
          <li>
            model <code>{detail.modelId}</code>
          </li>
        )}
        <li>
          created <At at={detail.createdAt} />
        </li>
        <li>
          {detail.settledAt !== null ? (
            <>
              took <Length millis={detail.settledAt - (detail.startedAt ?? detail.createdAt)} />
            </>
          ) : (
            <>
              for <Growing since={detail.startedAt ?? detail.createdAt} />
            </>
          )}
        </li>
        <li>
          turn {countText(detail.turns)} of at most {countText(detail.policy.maxTurns)}
        </li>
        <li>
          {countOf(detail.toolCalls, "call")} of at most {countText(detail.policy.maxToolCalls)}
        </li>
        <li>
          {countText(detail.inputTokens)} tokens in, {countText(detail.outputTokens)} out
        </li>
        <li>
          budget {durationText(detail.policy.maxDurationMillis)} of work,{" "}
          {detail.policy.toolConcurrency} calls at once
        </li>
      </ul>
    </PageHeader>
  );
}
