"use client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Radar } from "lucide-react";
import { useRef } from "react";
import { ErrorPanel } from "#components/feedback/error-panel.tsx";
import { JsonValue } from "#components/json/json-value.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { useDecisionLock } from "#components/shell/live.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { Button } from "#components/ui/button.tsx";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { ProbeView, UnknownDetail } from "#lib/contract/unknown-views.ts";

const findingText: Record<NonNullable<ProbeView["finding"]>, string> = {
  found: "The destination knows this call",
  "not-found": "The destination has no trace of this call",
  inconclusive: "The destination cannot tell",
  failed: "The question failed",
  "timed-out": "No answer in time",
};

/** What the destination was asked and answered, and the button that asks it now (OP-08). */
export function Probes({ detail }: { detail: UnknownDetail }) {
  return (
    <div className="flex flex-col gap-3">
      {detail.probeRule === null ? (
        <p className="text-soft">
          This tool declares no question that could be put to its destination: look the call up by
          its idempotency key.
        </p>
      ) : (
        <>
          <p className="text-soft">{detail.probeRule}</p>
          {detail.state === "open" ? <ProbeNow detail={detail} /> : null}
        </>
      )}
      {detail.probes.length === 0 ? null : (
        <ol aria-label="Answers of the destination" className="flex flex-col gap-2">
          {detail.probes.map((probe) => (
            <li key={probe.probeId} className="border-l-2 border-line pl-3">
              <p>
                <strong className="font-medium">
                  {probe.finding === null ? "Being asked…" : findingText[probe.finding]}
                </strong>
                {probe.settles ? ", which settled the call by the tool's rule" : ""}
              </p>
              {probe.detail === null || probe.detail === "" ? null : (
                <p className="break-words">
                  <VisibleText text={probe.detail} />
                </p>
              )}
              {probe.result === null ? null : (
                <JsonValue
                  value={probe.result}
                  label={probe.isFailure === true ? "its failure there" : "its result there"}
                  maxHeight={160}
                />
              )}
              <p className="text-table text-soft">
                asked by <VisibleText text={probe.actor.name} line /> at <At at={probe.askedAt} />
                {probe.answeredAt === null ? null : (
                  <>
                    , answered <At at={probe.answeredAt} timeOnly />
                  </>
                )}
              </p>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function ProbeNow({ detail }: { detail: UnknownDetail }) {
  const { api } = useConsole();
  const client = useQueryClient();
  const me = useMe();
  const lock = useDecisionLock();
  // Kept until an answer came: pressing again after a broken connection asks nothing twice.
  const pending = useRef<string>(undefined);
  const ask = useMutation({
    mutationFn: () => {
      pending.current ??= api.newCommandId();
      return api.probeUnknown(detail.unknownId, pending.current);
    },
    onSuccess: () => {
      pending.current = undefined;
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.unknown(detail.unknownId) }),
  });
  if (!isAtLeast(me, "operator")) {
    return <p className="text-soft">Asking needs the role operator; yours is {me.role}.</p>;
  }
  return (
    <>
      {ask.isError ? <ErrorPanel error={ask.error} small /> : null}
      <div className="flex flex-wrap items-center gap-2">
        <Button disabled={ask.isPending || lock !== undefined} onClick={() => ask.mutate()}>
          <Radar aria-hidden size={15} /> {ask.isPending ? "Asking…" : "Ask the destination now"}
        </Button>
        <span className="text-soft">
          {lock ?? "It is asked by the idempotency key and only reads; it has 10 s."}
        </span>
      </div>
    </>
  );
}
