/**
 * Whether the next turn is an ordinary one, a constrained last answer, or none at
 * all because a limit is reached (F-13, F-14, RT-01). Pure.
 */
import * as Duration from "effect/Duration";
import { AgentBudgetExceeded, AgentRepeatedFailureError } from "#lib/agent-error.ts";
import type { RunPolicy } from "#lib/agent/policy.ts";
import type { CallEvidence, RunEvidence, TurnEvidence } from "#lib/durable/run-state.ts";

export type Budget = "turns" | "toolCalls" | "duration";

export type TurnPlan =
  | { readonly _tag: "ordinary" }
  | { readonly _tag: "final-answer"; readonly for: Budget; readonly error: AgentBudgetExceeded }
  | { readonly _tag: "stop"; readonly error: AgentBudgetExceeded | AgentRepeatedFailureError };

/** A plan with a request. */
export type Asking = Exclude<TurnPlan, { readonly _tag: "stop" }>;

/** Calls that count: every declared one, rejected ones included, but not those a budget refused (F-06, F-13). */
const counts = (call: CallEvidence): boolean => !isOverBudget(call);

/** Refused for the tool-call budget; a call that stood beside one that was not offered is not. */
const isOverBudget = ({ rejection, settled }: CallEvidence): boolean =>
  settled?.kind === "not-executed" && settled.source === "preflight" && rejection === undefined;

/** Inner calls count once they may start: refused and denied ones cost nothing (Z-11, CM-05). */
export const countsInner = ({ denied, settled }: CallEvidence): boolean =>
  denied === undefined && settled?.kind !== "rejected" && settled?.kind !== "not-executed";

export const countCalls = (evidence: RunEvidence): number =>
  evidence.turns
    .flatMap((turn) => turn.calls)
    .reduce((sum, call) => sum + (counts(call) ? 1 : 0) + call.inner.filter(countsInner).length, 0);

/**
 * The call with which `limit` calls in a row had failed, folded per turn in
 * declaration order; a success starts again at 0. A batch that reaches the limit
 * has reached it, whatever is declared after (F-13).
 */
export const failureAtLimit = (evidence: RunEvidence, limit: number): CallEvidence | undefined => {
  if (limit === 0) return undefined;
  let length = 0;
  for (const turn of evidence.turns) {
    for (const call of turn.calls.filter(counts)) {
      const { settled } = call;
      if (settled === undefined) continue;
      if (!settled.isFailure) length = 0;
      else if (settled.kind === "failed" || settled.kind === "rejected") length += 1;
      if (length === limit) return call;
    }
  }
  return undefined;
};

const exhausted = (dimension: Budget, limit: number, seen: number): AgentBudgetExceeded =>
  new AgentBudgetExceeded({
    dimension,
    limit,
    seen,
    message: `The run reached its limit of ${limit} ${dimension === "toolCalls" ? "tool calls" : dimension === "turns" ? "turns" : "active milliseconds"}; seen ${seen}.`,
  });

/** The run's active time is used up. */
export const exhaustedTime = (
  policy: RunPolicy,
  activeMillis = policy.maxDurationMillis,
): AgentBudgetExceeded => exhausted("duration", policy.maxDurationMillis, activeMillis);

/** A last answer is asked for when time may be used up already; it gets this much of its own (F-14). */
const finalAnswerMillis = 60_000;

/** The active time that a batch finds used; the completion call of a last answer has its own time too (F-14, X-16). */
export const usedBefore = (turn: TurnEvidence, policy: RunPolicy, activeMillis: number): number =>
  turn.recorded.finalAnswerFor === undefined
    ? activeMillis
    : Math.min(activeMillis, policy.maxDurationMillis - finalAnswerMillis);

/** How long the model may take for its answer: what is left of the run's active time (RT-01). */
export const timeToAnswer = (
  plan: Asking,
  policy: RunPolicy,
  activeMillis: number,
): Duration.Duration => {
  const remaining = Math.max(0, policy.maxDurationMillis - activeMillis);
  return Duration.millis(
    plan._tag === "final-answer" ? Math.max(remaining, finalAnswerMillis) : remaining,
  );
};

/** Which budget is used up before the next request, if any. */
export const exhaustedBudget = (
  evidence: RunEvidence,
  policy: RunPolicy,
  activeMillis: number,
): AgentBudgetExceeded | undefined => {
  const refused = evidence.turns.some((turn) => turn.calls.some(isOverBudget));
  const calls = countCalls(evidence);
  if (refused) return exhausted("toolCalls", policy.maxToolCalls, calls);
  if (activeMillis >= policy.maxDurationMillis) return exhaustedTime(policy, activeMillis);
  if (evidence.turns.length >= policy.maxTurns)
    return exhausted("turns", policy.maxTurns, evidence.turns.length);
  return undefined;
};

export const planTurn = (
  evidence: RunEvidence,
  policy: RunPolicy,
  activeMillis: number,
): TurnPlan => {
  const limit = policy.repeatedFailureLimit;
  const last = failureAtLimit(evidence, limit)?.declared;
  if (last !== undefined) {
    return {
      _tag: "stop",
      error: new AgentRepeatedFailureError({
        toolCallId: last.callId,
        toolName: last.toolName,
        limit,
        seen: limit,
        message: `${limit} tool calls in a row failed, the last one of ${last.toolName}; the limit is ${limit}.`,
      }),
    };
  }
  const budget = exhaustedBudget(evidence, policy, activeMillis);
  if (budget === undefined) return { _tag: "ordinary" };
  // The last answer was given already and declared calls again: there is no second one.
  const answered = evidence.turns.at(-1)?.recorded.finalAnswerFor !== undefined;
  return policy.onExhaustion === "final-answer" && !answered
    ? { _tag: "final-answer", for: budget.dimension, error: budget }
    : { _tag: "stop", error: budget };
};
