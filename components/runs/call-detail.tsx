"use client";
import Link from "next/link";
import { useConsole } from "#components/shell/console-context.tsx";
import { buttonClass } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { bytesText, countOf } from "#components/ui/durations.ts";
import { Fact, Facts } from "#components/ui/facts.tsx";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { digestNotReadYet } from "#lib/client/apply-run-event.ts";
import type { CallProgress } from "#lib/client/run-snapshot.ts";
import type { ExecutionClass, FailureHandling } from "#lib/contract/status.ts";
import type { CallBody } from "#lib/contract/http/run-parts.ts";
import type { StepView, ToolCallView } from "#lib/contract/run-views.ts";
import { DiscoveryResult } from "./discovery-result.tsx";
import { Doubt } from "./doubt.tsx";
import { usePast } from "./past.tsx";
import { StoredValue } from "./stored-value.tsx";

const classText: Record<ExecutionClass, string> = {
  readonly: "readonly: may run again freely",
  idempotent: "idempotent: runs again with the same key after a crash",
  uncertain: "uncertain: never repeated by itself; a lost answer becomes unknown",
};

const handlingText: Record<FailureHandling, string> = {
  propagated: "ended the batch",
  "returned-to-model": "returned to the model",
  "returned-to-caller": "returned to the caller",
};

/** Everything stored of one call. */
export function CallDetail({
  call,
  runId,
  agentId,
  progress,
  inside,
}: {
  call: ToolCallView;
  runId: string;
  agentId: string;
  progress: CallProgress | undefined;
  inside: string | undefined;
}) {
  const { api } = useConsole();
  const addressOf = (body: CallBody): string =>
    api.callBodyAddress(runId, call.turn, call.callId, body);
  const changed =
    call.effectiveParameters !== null &&
    JSON.stringify(call.effectiveParameters) !== JSON.stringify(call.parameters);
  return (
    <div className="flex flex-col gap-3 border-t border-line px-3 py-3">
      <StoredValue
        value={call.effectiveParameters ?? call.parameters}
        label={changed ? "arguments as they run, defaults filled in" : "arguments"}
        address={addressOf(
          call.effectiveParameters === null ? "parameters" : "effectiveParameters",
        )}
      />
      {changed ? (
        <StoredValue
          value={call.parameters}
          address={addressOf("parameters")}
          label={`arguments as the ${inside === undefined ? "model" : "program"} wrote them`}
          maxHeight={200}
        />
      ) : null}
      {progress === undefined ? null : <Preliminary progress={progress} />}
      {call.steps === undefined ? null : <Steps steps={call.steps} />}
      <DiscoveryResult call={call} agentId={agentId} />
      {call.hasResult ? (
        <Result
          call={call}
          address={addressOf("result")}
          wholeAddress={addressOf("wholeResult")}
          reader={inside === undefined ? "model" : "program"}
        />
      ) : null}
      <Links call={call} />
      <Facts>
        <Fact name="Call">
          <code className="break-all">{call.callId}</code>, number {call.index + 1}{" "}
          {inside === undefined ? (
            "of its batch"
          ) : (
            <>
              of those made by the program of <VisibleText text={inside} line />
            </>
          )}
          {call.providerExecuted ? ", executed by the model's provider" : ""}
        </Fact>
        <Fact name="Class">{classText[call.executionClass]}</Fact>
        <Fact name="Digest of arguments">
          {call.parametersDigest === digestNotReadYet ? (
            <span className="text-soft">being read</span>
          ) : (
            <>
              <code className="break-all">{call.parametersDigest}</code>
              <CopyButton text={call.parametersDigest} what="the digest" />
            </>
          )}
        </Fact>
        {call.idempotencyKey === null ? null : (
          <Fact name="Idempotency key">
            <code className="break-all">{call.idempotencyKey}</code>
          </Fact>
        )}
        {call.failureMode === null ? null : (
          <Fact name="Failure mode">
            {call.failureMode}
            {call.failureHandling === null
              ? ""
              : `; this failure was ${handlingText[call.failureHandling]}`}
          </Fact>
        )}
        {call.doubt === undefined || call.state === "unknown" ? null : (
          <Fact name="Doubt">
            <Doubt doubt={call.doubt} />
          </Fact>
        )}
        <Fact name="Times">
          declared <At at={call.declaredAt} timeOnly />
          {call.requestedAt === null ? null : (
            <>
              , asked <At at={call.requestedAt} timeOnly />
            </>
          )}
          {call.decidedAt === null ? null : (
            <>
              , decided <At at={call.decidedAt} timeOnly />
            </>
          )}
          {call.startedAt === null ? null : (
            <>
              , started <At at={call.startedAt} timeOnly />
            </>
          )}
          {call.endedAt === null ? null : (
            <>
              , ended <At at={call.endedAt} timeOnly />
            </>
          )}
        </Fact>
      </Facts>
    </div>
  );
}

function Result({
  call,
  address,
  wholeAddress,
  reader,
}: {
  call: ToolCallView;
  address: string;
  wholeAddress: string;
  reader: "model" | "program";
}) {
  return (
    <div>
      <StoredValue
        value={call.result}
        address={address}
        label={`${call.isFailure ? "failure" : "result"} that the ${reader} sees`}
      />
      {call.originalBytes === null ? null : call.keptBytes === undefined ? (
        <p className="mt-1 text-table text-soft">
          {bytesText(call.originalBytes)} before bounding.
        </p>
      ) : (
        <WholeResult
          originalBytes={call.originalBytes}
          keptBytes={call.keptBytes}
          address={wholeAddress}
          reader={reader}
        />
      )}
    </div>
  );
}

/** A way to the text that the reader of the result did not get; only ever a file, whatever is in it. */
function WholeResult({
  originalBytes,
  keptBytes,
  address,
  reader,
}: {
  originalBytes: number;
  keptBytes: number;
  address: string;
  reader: "model" | "program";
}) {
  const isWhole = keptBytes === originalBytes;
  const what = isWhole ? "whole result" : "first part of the result";
  return (
    <div className="mt-1 flex flex-wrap items-center gap-2 text-table">
      <p className="min-w-0 flex-1 text-soft">
        The {reader} got a bounded copy of {bytesText(originalBytes)}.
        {isWhole
          ? " The whole text is kept."
          : keptBytes === 0
            ? " Nothing more of it is kept: the run had used up its room for large results."
            : ` The first ${bytesText(keptBytes)} are kept.`}
      </p>
      {keptBytes === 0 ? null : (
        <a href={address} download className={buttonClass()}>
          Download {what} ({bytesText(keptBytes)})
        </a>
      )}
    </div>
  );
}

function Preliminary({ progress }: { progress: CallProgress }) {
  return (
    <section aria-label="Preliminary values">
      <h3 className="mb-1 text-soft">
        Preliminary values
        {progress.dropped > 0 ? `; ${progress.dropped} earlier ones were dropped` : ""}
      </h3>
      <ol className="mono max-h-40 overflow-auto rounded-sm border border-line p-1 text-table">
        {progress.values.map((one) => (
          <li key={one.index} className="flex gap-2">
            <At at={one.at} timeOnly />
            <span className="min-w-0 break-all">
              <VisibleText text={JSON.stringify(one.value)?.slice(0, 2_000) ?? ""} line />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What the call's own work has recorded so far: each of them is given again, not done again, after a crash. */
function Steps({ steps }: { steps: ReadonlyArray<StepView> }) {
  return (
    <section aria-label="Steps">
      <h3 className="mb-1 text-soft">{countOf(steps.length, "step")} recorded</h3>
      <ol className="rounded-sm border border-line">
        {steps.map((step) => (
          <li
            key={step.name}
            className="flex flex-col gap-1 border-b border-line p-1.5 last:border-0"
          >
            <span className="flex flex-wrap gap-x-3 text-table">
              <code className="font-semibold">
                <VisibleText text={step.name} line />
              </code>
              <span className="text-soft">
                attempt {step.attempt}, recorded <At at={step.recordedAt} timeOnly />
              </span>
            </span>
            <StoredValue value={step.result} label={`result of ${step.name}`} maxHeight={160} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const link = "text-active underline underline-offset-2";

function Links({ call }: { call: ToolCallView }) {
  const isPast = usePast();
  const diagnostic = call.failure?.diagnosticId;
  // That a person has answered it does not always change the call: its run may have ended by then, or with it.
  const isOpen = call.state === "unknown" && (call.doubt?.resolution ?? null) === null;
  const mayResolve = isOpen && !isPast;
  if (call.approvalRequestId === null && call.unknownId === null && diagnostic === undefined)
    return null;
  return (
    <p className="flex flex-wrap gap-4">
      {call.approvalRequestId === null ? null : (
        <Link
          href={`/approvals?request=${encodeURIComponent(call.approvalRequestId)}`}
          className={link}
        >
          {call.state === "waiting" && !isPast ? "Decide this call" : "Its approval"}
        </Link>
      )}
      {call.unknownId === null ? null : (
        <Link href={`/unknowns?unknown=${encodeURIComponent(call.unknownId)}`} className={link}>
          {mayResolve ? "Resolve this effect" : isOpen ? "Its doubt" : "Its resolution"}
        </Link>
      )}
      {diagnostic === undefined ? null : (
        <Link href={`/failures?diagnostic=${encodeURIComponent(diagnostic)}`} className={link}>
          Private evidence
        </Link>
      )}
    </p>
  );
}
