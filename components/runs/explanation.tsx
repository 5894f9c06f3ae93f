"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { AlarmClock, RotateCw } from "lucide-react";
import { useRouter } from "next/navigation";
import { ConfirmWithReason } from "#components/feedback/confirm-with-reason.tsx";
import { QueryStates } from "#components/feedback/query-states.tsx";
import { SkeletonRows } from "#components/feedback/skeleton.tsx";
import { useConsole } from "#components/shell/console-context.tsx";
import { isAtLeast, useMe } from "#components/shell/me.ts";
import { Fact, Facts } from "#components/ui/facts.tsx";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import { keys } from "#lib/client/query-keys.ts";
import type { RunDetail, RunExplanation } from "#lib/contract/views.ts";
import { Attempts } from "./attempts.tsx";

const againEveryMillis = 5_000;

/** Why the run is where it is, what comes next, what an operator could do, and every recovery decision (OP-12). */
export function Explanation({ detail }: { detail: RunDetail }) {
  const { api } = useConsole();
  const explained = useQuery({
    queryKey: keys.runExplanation(detail.runId),
    queryFn: ({ signal }) => api.explainRun(detail.runId, signal),
    // An attempt that is put off makes no event: nothing else would say that it can be woken by now.
    refetchInterval: detail.settledAt === null ? againEveryMillis : false,
  });
  return (
    <QueryStates query={explained} loading={<SkeletonRows rows={6} label="the explanation" />}>
      {(explanation) => (
        <>
          <section aria-label="Explanation" className="max-w-[900px] px-4 pt-4">
            <Facts>
              <Fact name="Now">
                <VisibleText text={explanation.now} />
              </Fact>
              <Fact name="Next">
                <VisibleText text={explanation.next} />
                {explanation.nextAt === null ? null : (
                  <>
                    {" "}
                    Due at <At at={explanation.nextAt} />.
                  </>
                )}
              </Fact>
              {explanation.lostAttempts === 0 ? null : (
                <Fact name="Lost attempts">
                  {explanation.lostAttempts} in a row; after {explanation.maxLostAttempts} the run
                  is given up
                </Fact>
              )}
            </Facts>
            <Steer explanation={explanation} />
          </section>
          <Attempts
            detail={detail}
            meanings={
              new Map(explanation.decisions.map(({ attempt, meaning }) => [attempt, meaning]))
            }
          />
        </>
      )}
    </QueryStates>
  );
}

function Steer({ explanation }: { explanation: RunExplanation }) {
  const { api } = useConsole();
  const client = useQueryClient();
  const router = useRouter();
  const me = useMe();
  const { retry, runId, wake } = explanation;
  if (!isAtLeast(me, "operator")) return null;
  const reread = async (): Promise<void> => {
    await client.invalidateQueries({ queryKey: keys.run(runId) });
    await client.invalidateQueries({ queryKey: ["obligations"] });
  };
  return (
    <div className="mt-3 flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {wake.possible ? (
          <ConfirmWithReason
            title="Wake this run?"
            effect={wake.effect}
            confirm="Wake it"
            run={async (commandId, reason) => {
              await api.wakeRun(runId, commandId, { reason });
              await reread();
            }}
          >
            <AlarmClock aria-hidden size={15} /> Wake…
          </ConfirmWithReason>
        ) : null}
        {retry.possible ? (
          <ConfirmWithReason
            title="Retry this run?"
            effect={retry.effect}
            confirm="Retry it"
            run={async (commandId, reason) => {
              const made = await api.retryRun(runId, commandId, { reason });
              await reread();
              if (made.runId !== runId) router.push(`/runs/${encodeURIComponent(made.runId)}`);
            }}
          >
            <RotateCw aria-hidden size={15} /> Retry…
          </ConfirmWithReason>
        ) : null}
      </div>
      {wake.possible ? null : <p className="text-table text-soft">Waking: {wake.effect}</p>}
      {retry.possible ? null : <p className="text-table text-soft">Retrying: {retry.effect}</p>}
    </div>
  );
}
