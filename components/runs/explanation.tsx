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
import { steeringTruth } from "#lib/client/steering-truth.ts";
import type { RunExplanation } from "#lib/contract/obligation-views.ts";
import type { RunDetail } from "#lib/contract/run-views.ts";
import { Attempts } from "./attempts.tsx";

/** How often what is due is looked at again until it has begun. */
const againEveryMillis = 5_000;

/** Why the run is where it is, what comes next, what an operator could do, and every recovery decision (OP-12). */
export function Explanation({ detail }: { detail: RunDetail }) {
  const { api, clock } = useConsole();
  const explained = useQuery({
    queryKey: keys.runExplanation(detail.runId),
    queryFn: ({ signal }) => api.explainRun(detail.runId, signal),
    // That an attempt is due by now makes no event: time says it, the server's.
    refetchInterval: ({ state: { data } }) =>
      data === undefined || data.nextAt === null || detail.settledAt !== null
        ? false
        : Math.max(againEveryMillis, data.nextAt - clock.now()),
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
  const readTruth = async (): Promise<string> => steeringTruth(await api.explainRun(runId));
  return (
    <div className="mt-3 flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <ConfirmWithReason
          offered={wake.possible}
          title="Wake this run?"
          effect={wake.effect}
          confirm="Wake it"
          run={async (commandId, reason) => void (await api.wakeRun(runId, commandId, { reason }))}
          readTruth={readTruth}
          onDone={reread}
        >
          <AlarmClock aria-hidden size={15} /> Wake…
        </ConfirmWithReason>
        <ConfirmWithReason
          offered={retry.possible}
          title="Retry this run?"
          effect={retry.effect}
          confirm="Retry it"
          run={async (commandId, reason) => {
            const made = await api.retryRun(runId, commandId, { reason });
            if (made.runId !== runId) router.push(`/runs/${encodeURIComponent(made.runId)}`);
          }}
          readTruth={readTruth}
          onDone={reread}
        >
          <RotateCw aria-hidden size={15} /> Retry…
        </ConfirmWithReason>
      </div>
      {wake.possible ? null : <p className="text-table text-soft">Waking: {wake.effect}</p>}
      {retry.possible ? null : <p className="text-table text-soft">Retrying: {retry.effect}</p>}
    </div>
  );
}
