"use client";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { JsonViewer } from "#components/json/json-viewer.tsx";
import { JsonValue } from "#components/json/json-value.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { callStateLook } from "#components/status/call-state.ts";
import { StatusBadge } from "#components/status/status-badge.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Fact, Facts, Section } from "#components/ui/facts.tsx";
import { Age, At, Length } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { exactAt, exactFromValue, type ExactJson, parseExactJson } from "#lib/client/exact-json.ts";
import { keys } from "#lib/client/query-keys.ts";
import type { UnknownDetail } from "#lib/contract/unknown-views.ts";
import { Probes } from "./probes.tsx";
import { reasonText } from "./reason-text.ts";
import { ResolveForm } from "./resolve-form.tsx";
import { StageStrip } from "./stage-strip.tsx";

export function UnknownDetailPane({ unknownId }: { unknownId: string }) {
  const { api } = useConsole();
  const unknown = useQuery({
    queryKey: keys.unknown(unknownId),
    queryFn: async ({ signal }) => {
      const answer = await api.unknown(unknownId, signal);
      const parameters =
        exactAt(parseExactJson(answer.text), ["parameters"]) ??
        exactFromValue(answer.value.parameters);
      return { detail: answer.value, parameters };
    },
  });
  return (
    <QueryStates query={unknown} loading={<SkeletonRows rows={10} label="the effect" />}>
      {({ detail, parameters }) => <Effect detail={detail} parameters={parameters} />}
    </QueryStates>
  );
}

function Effect({ detail, parameters }: { detail: UnknownDetail; parameters: ExactJson }) {
  return (
    <article
      aria-label={`Effect of ${detail.toolName}`}
      className="min-h-0 flex-1 overflow-auto bg-panel"
    >
      <header className="flex flex-col gap-1 px-4 py-3">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <h2 className="mono text-title font-semibold break-all">
            <VisibleText text={detail.toolName} line />
          </h2>
          <StatusBadge look={callStateLook.unknown} />
          <span className="ml-auto text-soft">
            {detail.resolvedAt === null ? (
              <>
                in doubt for <Age at={detail.unknownAt} />
              </>
            ) : (
              <>
                was in doubt for <Length millis={detail.resolvedAt - detail.unknownAt} />
              </>
            )}
          </span>
        </div>
        <p className="break-words">
          <VisibleText text={detail.detail} />
        </p>
      </header>
      <Section title="What is known">
        <StageStrip detail={detail} />
        <p className="mt-2 text-soft">
          Why in doubt: {reasonText(detail.reason)}. It is not repeated by itself, and nobody has
          guessed an outcome.
        </p>
      </Section>
      <Section title="What the destination says">
        <Probes detail={detail} />
      </Section>
      <Section title="Ran with these parameters">
        <JsonViewer value={parameters} label="parameters, exactly as prepared" />
      </Section>
      <Section title="To look it up elsewhere">
        <Facts>
          <Fact name="Idempotency key">
            <code className="break-all">{detail.idempotencyKey}</code>
            <CopyButton text={detail.idempotencyKey} what="the idempotency key" />
          </Fact>
          <Fact name="Prepared">
            <At at={detail.preparedAt} />, attempt {detail.attempt}
          </Fact>
          <Fact name="Digest">
            <code className="break-all">{detail.parametersDigest}</code>
            <CopyButton text={detail.parametersDigest} what="the digest" />
          </Fact>
          <Fact name="Run">
            <Link
              href={`/runs/${encodeURIComponent(detail.runId)}?turn=${detail.turn}&call=${encodeURIComponent(detail.callId)}`}
              className="text-active underline underline-offset-2"
            >
              <VisibleText text={detail.runTitle} line />
            </Link>
          </Fact>
        </Facts>
      </Section>
      {detail.resolution === null ? (
        <Section title="Resolve">
          <ResolveForm detail={detail} />
        </Section>
      ) : (
        <Resolved resolution={detail.resolution} at={detail.resolvedAt} />
      )}
    </article>
  );
}

function Resolved({
  resolution,
  at,
}: {
  resolution: NonNullable<UnknownDetail["resolution"]>;
  at: number | null;
}) {
  return (
    <Section title="Resolution">
      <Facts>
        <Fact name="Resolved as">
          <strong>{resolution.kind}</strong>
        </Fact>
        <Fact name="By">
          <VisibleText text={resolution.actor.name} line />
          {at === null ? null : (
            <>
              {" "}
              at <At at={at} />
            </>
          )}
        </Fact>
        <Fact name="Reason">
          <VisibleText text={resolution.reason} />
        </Fact>
        <Fact name="Evidence">
          <VisibleText text={resolution.evidence} />
        </Fact>
      </Facts>
      {resolution.result === null ? null : (
        <div className="mt-2">
          <JsonValue value={resolution.result} label="result that the run goes on with" />
        </div>
      )}
      <p className="mt-2 text-soft">That the effect was in doubt stays in the run's history.</p>
    </Section>
  );
}
