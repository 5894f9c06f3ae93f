import { Empty } from "#components/feedback/empty.tsx";
import { At, Length } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { RunDetail } from "#lib/contract/run-views.ts";

/** Every attempt of the run and what recovery decided at its start (DU). */
export function Attempts({
  detail,
  meanings,
}: {
  detail: RunDetail;
  /** What such a decision means, by attempt; absent until it is read. */
  meanings: ReadonlyMap<number, string>;
}) {
  if (detail.attempts.length === 0) {
    return (
      <Empty kind="nothing-yet" title="No attempt yet">
        The submission is accepted; no worker has claimed its thread so far.
      </Empty>
    );
  }
  return (
    <ol aria-label="Attempts" className="max-w-[900px] p-4">
      {detail.attempts.map((attempt, index) => {
        const next = detail.attempts[index + 1];
        return (
          <li key={attempt.attempt} className="border-l-2 border-line pb-4 pl-4">
            <h2 className="font-semibold">
              Attempt {attempt.attempt}{" "}
              <code className="font-normal text-soft">{attempt.decision}</code>
            </h2>
            <p>
              <VisibleText text={attempt.explanation} />
            </p>
            {meanings.has(attempt.attempt) ? (
              <p className="text-soft">{meanings.get(attempt.attempt)}</p>
            ) : null}
            <p className="text-table text-soft">
              <At at={attempt.startedAt} />
              {attempt.epoch === 0 ? "" : `, epoch ${attempt.epoch}`}
              {attempt.suspendedFor === null
                ? ""
                : `, let go to wait for ${attempt.suspendedFor === "approval" ? "an approval" : "an effect in doubt"}`}
              {next === undefined ? null : (
                <>
                  , next attempt <Length millis={next.startedAt - attempt.startedAt} /> later
                </>
              )}
            </p>
          </li>
        );
      })}
    </ol>
  );
}
