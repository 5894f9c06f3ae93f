"use client";
import { Eye, TriangleAlert } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { JsonViewer } from "#components/json/json-viewer.tsx";
import { JsonValue } from "#components/json/json-value.tsx";
import { WhatTheySaw } from "#components/shell/moment.tsx";
import { ApprovalStateBadge, RiskBadge } from "#components/status/status-badge.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { countOf } from "#components/ui/durations.ts";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { Age, At, Countdown } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { ApprovalCard } from "#lib/client/approval-card.ts";
import { exactJsonText } from "#lib/client/exact-json.ts";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";
import { BatchPlan } from "./batch-plan.tsx";
import { DecisionBar } from "./decision-bar.tsx";
import { DeliveryLights } from "./delivery-lights.tsx";
import { HiddenCharactersWarning } from "./hidden-characters-warning.tsx";
import { useApprovalCard } from "./use-approvals.ts";
import { useLookers } from "./use-lookers.ts";

// None of them belongs to every card: each is fetched for the first that needs it.
const ReviewedPreview = dynamic(() => import("./previews/reviewed-preview.tsx"), { ssr: false });
const Approvers = dynamic(() => import("./approvers.tsx"), { ssr: false });
const BasisChanges = dynamic(() => import("./basis-changes.tsx"), { ssr: false });
const Suggested = dynamic(() => import("./suggested.tsx"), { ssr: false });

/** One call that waits for a person, or what became of it. */
export function ApprovalDetailPane({ requestId }: { requestId: string }) {
  const card = useApprovalCard(requestId);
  return (
    <QueryStates query={card} loading={<SkeletonRows rows={10} label="the call" />}>
      {(data) => <Card card={data} />}
    </QueryStates>
  );
}

function Card({ card }: { card: ApprovalCard }) {
  const { detail } = card;
  const { content } = detail;
  return (
    <>
      <article
        aria-label={`Approval of ${detail.toolName}`}
        className="min-h-0 flex-1 overflow-auto bg-panel"
        tabIndex={-1}
      >
        <header className="flex flex-col gap-1 px-4 py-3">
          <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
            <h2 className="mono min-w-0 text-title font-semibold break-all">
              <VisibleText text={detail.toolName} line />
            </h2>
            <ApprovalStateBadge state={detail.state} />
            <RiskBadge risk={detail.risk} />
            <span className="ml-auto">
              <TimeLeft detail={detail} />
            </span>
          </div>
          <p className="break-words [overflow-wrap:anywhere]">
            <VisibleText text={detail.summary} />
          </p>
          <Outcome detail={detail} />
          <Lookers detail={detail} />
        </header>
        <HiddenCharactersWarning content={content} />
        <ChangedSinceAsked detail={detail} />
        {card.suggestion === undefined ? null : (
          <Suggested declared={card.effectiveParameters} suggestion={card.suggestion} />
        )}
        {content.approversRequired > 1 ? <Approvers detail={detail} /> : null}
        <ReviewedPreview toolName={detail.toolName} parameters={card.effectiveParameters} />
        <Section title="Runs with these arguments">
          <JsonViewer
            value={card.effectiveParameters}
            label="arguments, exactly as they will run"
          />
          <Declared card={card} />
        </Section>
        <Section title="Acts on">
          {content.targets.length === 0 ? (
            <p className="text-soft">The tool names no targets.</p>
          ) : (
            <ul className="flex flex-col gap-1">
              {content.targets.map((target) => (
                <li key={`${target.kind}\u0000${target.id}`} className="flex gap-2">
                  <span className="text-soft">
                    <VisibleText text={target.kind} line />
                  </span>
                  <code className="min-w-0 break-all">
                    <VisibleText text={target.id} line />
                  </code>
                </li>
              ))}
            </ul>
          )}
        </Section>
        <BatchPlan detail={detail} />
        <Section title="Receipt and delivery">
          <Receipt detail={detail} />
          <DeliveryLights detail={detail} />
        </Section>
        <Section title="Asked by">
          <AskedBy detail={detail} />
        </Section>
      </article>
      <DecisionBar card={card} />
    </>
  );
}

function TimeLeft({ detail }: { detail: ApprovalDetail }) {
  if (detail.state !== "pending") return null;
  if (detail.expiresAt === null) return <span className="text-soft">never expires</span>;
  return <Countdown from={detail.requestedAt} until={detail.expiresAt} />;
}

/** "Ana is looking": a courtesy among operators that blocks nobody. */
function Lookers({ detail }: { detail: ApprovalDetail }) {
  const lookers = useLookers(detail);
  if (lookers.length === 0) return null;
  return (
    <p className="flex items-center gap-1 text-soft" data-lookers={lookers.length}>
      <Eye aria-hidden size={14} />
      <span>
        <VisibleText text={lookers.map(({ name }) => name).join(", ")} line />{" "}
        {lookers.length === 1 ? "is" : "are"} looking at this too.
      </span>
    </p>
  );
}

/** What the call would be judged by differently now than when it was asked for. */
function ChangedSinceAsked({ detail }: { detail: ApprovalDetail }) {
  if (detail.changedSinceAsked.length === 0) return null;
  return (
    <div
      role="note"
      data-changed-since-asked
      className="tone-attention tone-wash tone-edge mx-4 mb-3 flex gap-2 rounded-sm border p-2"
    >
      <TriangleAlert aria-hidden size={15} className="tone-text mt-0.5 shrink-0" />
      <div className="min-w-0">
        <p className="font-semibold">Changed since the call was asked for</p>
        <BasisChanges changes={detail.changedSinceAsked} />
        {detail.changedSinceAsked.some(
          ({ part }) => part === "toolDigest" || part === "visibility",
        ) ? (
          <p>Approved now, it would be refused as changed: it never runs under another contract.</p>
        ) : null}
      </div>
    </div>
  );
}

/** Who decided what, when and why; also when it happened in another browser a moment ago. */
function Outcome({ detail }: { detail: ApprovalDetail }) {
  if (detail.state === "pending") return null;
  const by = detail.decidedBy ?? (detail.state === "expired" ? "the clock" : "the system");
  const why = detail.reason ?? "";
  return (
    <p className="break-words" data-outcome={detail.state}>
      {detail.state === "withdrawn"
        ? "Withdrawn because the run ended"
        : `${capital(detail.state)} by`}{" "}
      {detail.state === "withdrawn" ? null : (
        <strong>
          <VisibleText text={by} line />
        </strong>
      )}
      {detail.decidedAt === null ? null : (
        <>
          {" "}
          at <At at={detail.decidedAt} />
        </>
      )}
      {why === "" ? "." : ": "}
      {why === "" ? null : <VisibleText text={why} />}{" "}
      <WhatTheySaw
        moment={detail.moment}
        to={`/approvals?request=${encodeURIComponent(detail.requestId)}`}
      >
        {detail.decidedBy === null ? "The queue before it" : "What they saw"}
      </WhatTheySaw>
    </p>
  );
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** What the model wrote, where decoding or defaults have made something else of it. */
function Declared({ card }: { card: ApprovalCard }) {
  const same = exactJsonText(card.effectiveParameters) === exactJsonText(card.declaredParameters);
  if (same)
    return (
      <p className="mt-1 text-soft">
        The model wrote exactly this; nothing was filled in or changed.
      </p>
    );
  return (
    <details className="mt-2">
      <summary className="cursor-pointer text-soft">
        The model wrote something else: decoding and defaults made the above of it
      </summary>
      <div className="mt-2">
        <JsonViewer value={card.declaredParameters} label="arguments as the model wrote them" />
      </div>
    </details>
  );
}

function Receipt({ detail }: { detail: ApprovalDetail }) {
  return (
    <Facts>
      <Fact name="Fingerprint">
        <span className="mono font-semibold" data-fingerprint>
          {detail.fingerprint}
        </span>{" "}
        <span className="text-soft">of tool, contract version, exact arguments and policy</span>
      </Fact>
      <Fact name="Digest">
        <code className="break-all">{detail.content.parametersDigest}</code>
        <CopyButton text={detail.content.parametersDigest} what="the digest" />
      </Fact>
      <Fact name="Receipt">
        {detail.receipt === null ? (
          <span className="text-soft">after the effect is known</span>
        ) : detail.receipt === "ran-as-approved" ? (
          <span className="font-semibold text-success">ran exactly what was approved</span>
        ) : (
          <span className="font-semibold text-danger">refused: changed since it was approved</span>
        )}
      </Fact>
    </Facts>
  );
}

function AskedBy({ detail }: { detail: ApprovalDetail }) {
  const { content } = detail;
  return (
    <>
      <Facts>
        <Fact name="Run">
          <Link
            href={`/runs/${encodeURIComponent(detail.runId)}?turn=${detail.turn}&call=${encodeURIComponent(detail.callId)}`}
            className="text-active underline underline-offset-2"
          >
            <VisibleText text={detail.runTitle} line />
          </Link>
        </Fact>
        <Fact name="Agent">
          <code>{detail.agentId}</code>, turn {detail.turn}, call{" "}
          <code className="break-all">{detail.callId}</code>
        </Fact>
        <Fact name="Requester">
          <VisibleText text={detail.requester} line />
        </Fact>
        <Fact name="Asked">
          <At at={detail.requestedAt} /> (<Age at={detail.requestedAt} /> ago)
        </Fact>
        <Fact name="A denial">
          {content.denial === "terminal"
            ? "ends the run: no call of the batch starts"
            : "is told to the model with your reason; the run goes on"}
        </Fact>
        <Fact name="Approvers">
          {countOf(content.approversRequired, "person", "people")}
          {content.selfApproval ? "" : ", not the requester"}
        </Fact>
      </Facts>
      <details className="mt-2">
        <summary className="cursor-pointer text-soft">
          Redacted preview ({content.previewSource === "tool" ? "by the tool" : "structure only"})
        </summary>
        <div className="mt-2">
          <JsonValue value={content.preview} label="redacted preview" />
        </div>
      </details>
    </>
  );
}
