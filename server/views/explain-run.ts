/** Why a run is where it is, what happens next, and what an operator could do about it (OP-12). Pure. */
import type { RunExplanation } from "#lib/contract/obligation-views.ts";
import type { RunState } from "#lib/contract/status.ts";
import { maxLostAttempts } from "#lib/host/attempt-run.ts";
import { explainObligation, isHeld } from "./explain-obligation.ts";

export interface RunToExplain {
  readonly state: RunState;
  readonly finishReason: string | null;
  readonly failureMessage: string | null;
  readonly submission: "ready" | "running" | "waiting" | "unknown" | "settled";
  readonly since: number;
  /** When a `ready` submission may be claimed; the database's clock, as `now`. */
  readonly dueAt: number;
  readonly now: number;
  readonly claims: number;
  readonly lostAttempts: number;
  readonly postponedReason: string | null;
  readonly pendingApprovals: number;
  readonly openUnknowns: number;
  readonly abortRequested: boolean;
  /** Everything that it waited for is there, though no attempt has taken it up. */
  readonly canGoOn: boolean;
  /** An earlier run of the thread that holds the queue. */
  readonly behind: string | null;
  /** Whether the process that drives it has been heard of lately. */
  readonly workerAlive: boolean;
  /** Tools whose calls had started with an effect that may have happened. */
  readonly startedEffects: ReadonlyArray<string>;
}

type Verdict = RunExplanation["wake"];

const yes = (effect: string): Verdict => ({ possible: true, effect });
const no = (effect: string): Verdict => ({ possible: false, effect });

const waitsForDelay = (run: RunToExplain): boolean =>
  run.submission === "ready" && run.dueAt > run.now;

const isHeldBack = (run: RunToExplain): boolean => isHeld({ ...run, state: run.submission });

/** Failures that say nothing against the input: trying it again may end better. */
const retryable: ReadonlySet<string> = new Set(["poisoned", "model-failure", "defect"]);

export const judgeWake = (run: RunToExplain): Verdict => {
  if (run.submission === "settled") return no("The run is settled; nothing is left to wake.");
  if (run.submission === "running")
    return no(
      run.workerAlive
        ? "A worker drives it already."
        : "Its worker is silent. Another takes it over by itself within seconds.",
    );
  if (run.behind !== null && !run.abortRequested)
    return no(`It waits its turn: run ${run.behind} of the same thread is before it.`);
  if (isHeldBack(run))
    return yes(
      "It goes on from its records now. What it did that they do not hold may be done again: look at the destinations of its tools first.",
    );
  if (waitsForDelay(run)) return yes("The next attempt starts now instead of at its time.");
  if (run.canGoOn) return yes("A worker is told to look at it now; one would within a second.");
  return no(
    run.submission === "waiting"
      ? "It waits for people to decide: an attempt before that would do nothing."
      : "It waits for an effect in doubt to be resolved: an attempt before that would do nothing.",
  );
};

export const judgeRetry = (run: RunToExplain): Verdict => {
  if (run.submission !== "settled") {
    if (run.submission === "ready" && run.lostAttempts > 0)
      return yes(
        "Lost attempts are counted from zero again and the next one starts now. It goes on from the records: nothing that has happened is repeated.",
      );
    return no(
      run.submission === "running" && run.lostAttempts > 0
        ? "An attempt is under way; only when it is lost too is there something to try again."
        : "No attempt has failed, so there is nothing to try again.",
    );
  }
  if (run.state !== "failed") return no(`The run is ${run.state}; only a failed one is retried.`);
  if (!retryable.has(run.finishReason ?? ""))
    return no(
      "The run failed for a reason of its own, which another try would only meet again: submit a new input.",
    );
  if (run.startedEffects.length > 0)
    return no(
      `Calls of ${run.startedEffects.join(", ")} had started in this run. A new run could do their effects a second time: submit a new input that says what is left to do.`,
    );
  return yes(
    "The same input is submitted once more on the same thread, as a new run. No call with an effect had started in this one.",
  );
};

const nextOf = (run: RunToExplain): string => {
  switch (run.submission) {
    case "settled":
      return "Nothing: a settled outcome does not change.";
    case "running":
      return run.workerAlive
        ? "Its worker goes on until the run ends or waits for a person."
        : "The next worker that looks takes it over and goes on from the records.";
    case "waiting":
    case "unknown":
      return run.canGoOn || run.abortRequested
        ? "A worker takes it up within a second."
        : "A person's answer starts the next attempt; no clock does, except where an approval expires.";
    case "ready":
      if (run.behind !== null && !run.abortRequested)
        return `It starts when run ${run.behind} has ended or waits for an effect in doubt.`;
      if (isHeldBack(run)) return "Nothing by itself: somebody wakes it, or aborts it.";
      return waitsForDelay(run)
        ? "The next attempt starts by itself at the time given, or when somebody wakes it."
        : "A worker takes it within a second, unless all of them are full.";
  }
};

const nowOf = (run: RunToExplain): string => {
  if (run.submission === "settled")
    return run.failureMessage === null
      ? `The run is ${run.state}.`
      : `The run is ${run.state}: ${run.failureMessage}`;
  const { explanation } = explainObligation({
    state: run.submission,
    since: run.since,
    now: run.now,
    attempts: run.claims,
    pendingApprovals: run.pendingApprovals,
    openUnknowns: run.openUnknowns,
    postponedReason: run.postponedReason,
    dueAt: waitsForDelay(run) ? run.dueAt : null,
    abortRequested: run.abortRequested,
  });
  return explanation;
};

export const explainRun = (
  run: RunToExplain,
): Pick<
  RunExplanation,
  "state" | "now" | "next" | "nextAt" | "lostAttempts" | "maxLostAttempts" | "wake" | "retry"
> => ({
  state: run.state,
  now: nowOf(run),
  next: nextOf(run),
  nextAt: waitsForDelay(run) && run.behind === null && !isHeldBack(run) ? run.dueAt : null,
  lostAttempts: run.lostAttempts,
  maxLostAttempts,
  wake: judgeWake(run),
  retry: judgeRetry(run),
});
