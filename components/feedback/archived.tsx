"use client";
import { Archive } from "lucide-react";
import Link from "next/link";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Fact, Facts } from "#components/ui/facts.tsx";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { ApiFailure, type FailureReason } from "#lib/client/api-failure.ts";

export type ArchivedReason = Extract<FailureReason, { _tag: "RunArchived" }>;

/** What a failure says of a run that was put away; undefined of any other failure. */
export const archivedReason = (error: unknown): ArchivedReason | undefined =>
  error instanceof ApiFailure && error.reason._tag === "RunArchived" ? error.reason : undefined;

/**
 * A run that retention has put away: no fault, but what is known of it and where the rest is. Without `runId`
 * something of a run was asked for by its own id, and the server says which run that was.
 */
export function Archived({
  reason,
  runId: asked,
}: {
  reason: ArchivedReason;
  runId?: string | undefined;
}) {
  const { archive, archivedAt, outcome, settledAt } = reason;
  const runId = asked ?? reason.runId;
  // A page of its own where the run was asked for, else a part of one that has its heading.
  const Heading = asked === undefined ? "h2" : "h1";
  return (
    <section aria-label="Archived" className="flex flex-col gap-3 px-4 py-6" data-archived>
      <Heading className="flex items-center gap-2 text-title font-semibold">
        <Archive aria-hidden size={16} className="text-soft" />{" "}
        {asked === undefined
          ? "The run that this belonged to was put away"
          : "This run was put away"}
      </Heading>
      <p className="max-w-prose text-soft">
        The run had settled and was old enough for this installation's retention.{" "}
        {archive === null
          ? "Its records were deleted without an archive."
          : "Its records, calls and exposures are in the archive file below, which whoever runs this installation has."}{" "}
        What people did with it is still in the audit.
      </p>
      <Facts>
        {runId === undefined ? null : (
          <Fact name="Run">
            <code className="break-all">{runId}</code>
            <CopyButton text={runId} what="the run id" />
          </Fact>
        )}
        <Fact name="Outcome">{outcome}</Fact>
        <Fact name="Settled">
          <At at={settledAt} />
        </Fact>
        <Fact name="Put away">
          <At at={archivedAt} />
        </Fact>
        {archive === null ? null : (
          <Fact name="Archive file">
            <code className="break-all">
              <VisibleText text={archive} line />
            </code>
            <CopyButton text={archive} what="the name of the file" />
          </Fact>
        )}
      </Facts>
      <p className="flex flex-wrap gap-4">
        {runId === undefined ? null : (
          <Link
            href={`/audit?runId=${encodeURIComponent(runId)}`}
            className="text-active underline underline-offset-2"
          >
            Its audit rows
          </Link>
        )}
        <Link href="/runs" className="text-active underline underline-offset-2">
          All runs
        </Link>
      </p>
    </section>
  );
}
