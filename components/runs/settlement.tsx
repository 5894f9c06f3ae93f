"use client";
import { TriangleAlert } from "lucide-react";
import Link from "next/link";
import { RunStateBadge } from "#components/status/status-badge.tsx";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { RunDetail } from "#lib/contract/run-views.ts";
import { usePast } from "./past.tsx";
import { StoredValue } from "./stored-value.tsx";

/** How the run ended, or what it is waiting for. */
export function Settlement({ detail }: { detail: RunDetail }) {
  if (detail.settledAt === null) return <WaitingFor detail={detail} />;
  return (
    <Section title="Settlement" aside={<RunStateBadge state={detail.state} />}>
      <Facts>
        <Fact name="Settled">
          <At at={detail.settledAt} />
        </Fact>
        <Fact name="Finish">
          <code>{detail.finishReason ?? "not recorded"}</code>
          {detail.exhausted === null ? "" : `, budget used up: ${detail.exhausted}`}
        </Fact>
        {detail.abort === null ? null : (
          <Fact name="Aborted by">
            <VisibleText text={detail.abort.actor.name} line /> at <At at={detail.abort.at} />:{" "}
            <VisibleText text={detail.abort.reason} />
          </Fact>
        )}
        {detail.failure === null ? null : (
          <Fact name="Failure">
            <code className="text-danger">{detail.failure.errorTag}</code>{" "}
            <VisibleText text={detail.failure.message} />
            {detail.failure.diagnosticId === undefined ? null : (
              <>
                {" "}
                <PrivateEvidence diagnosticId={detail.failure.diagnosticId} />
              </>
            )}
          </Fact>
        )}
      </Facts>
      <CallAsText detail={detail} />
      {detail.output === null ? null : (
        <div className="mt-2">
          <StoredValue value={detail.output} label="output of the run" />
        </div>
      )}
    </Section>
  );
}

/** The answer below it is no answer (R77): said before anybody takes it for one. */
function CallAsText({ detail: { callAsText } }: { detail: RunDetail }) {
  if (callAsText === undefined) return null;
  return (
    <div
      role="note"
      data-call-as-text={callAsText.toolName}
      className="tone-attention tone-wash tone-edge mt-2 flex gap-2 rounded-sm border p-2"
    >
      <TriangleAlert aria-hidden size={15} className="tone-text mt-0.5 shrink-0" />
      <div className="min-w-0">
        <p className="font-semibold">The last answer is a tool call, written as text</p>
        <p className="max-w-prose">
          The model meant to call{" "}
          <code className="break-all">
            <VisibleText text={callAsText.toolName} line />
          </code>
          , and its endpoint gave that as text. Nothing of it was started. An endpoint that reads
          tool calls out of the model's text gives them as calls.{" "}
          <PrivateEvidence diagnosticId={callAsText.diagnosticId} />
        </p>
      </div>
    </div>
  );
}

const PrivateEvidence = ({ diagnosticId }: { diagnosticId: string }) => (
  <Link
    href={`/failures?diagnostic=${encodeURIComponent(diagnosticId)}`}
    className="text-active underline underline-offset-2"
  >
    Private evidence
  </Link>
);

function WaitingFor({ detail }: { detail: RunDetail }) {
  const link = "text-active underline underline-offset-2";
  // What waited then may be decided by now.
  const isPast = usePast();
  if (detail.state === "waiting") {
    return (
      <Section title="Waiting">
        <p>
          A person must decide{" "}
          {detail.pendingApprovals === 1 ? "one call" : `${detail.pendingApprovals} calls`}. No
          process is held meanwhile: the run goes on when the last one is decided.{" "}
          {isPast ? null : (
            <Link href={firstWaiting(detail)} className={link}>
              Decide
            </Link>
          )}
        </p>
      </Section>
    );
  }
  if (detail.state === "unknown") {
    return (
      <Section title="Waiting">
        <p>
          {detail.openUnknowns === 1 ? "One effect is" : `${detail.openUnknowns} effects are`} in
          doubt and must be resolved by a person before the run goes on.{" "}
          {isPast ? null : (
            <Link href="/unknowns" className={link}>
              Resolve
            </Link>
          )}
        </p>
      </Section>
    );
  }
  return null;
}

const firstWaiting = (detail: RunDetail): string => {
  const call = detail.turnViews
    .flatMap((turn) => turn.calls)
    .find((one) => one.state === "waiting");
  return call?.approvalRequestId === undefined || call.approvalRequestId === null
    ? "/approvals"
    : `/approvals?request=${encodeURIComponent(call.approvalRequestId)}`;
};
