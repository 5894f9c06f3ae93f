/**
 * Whether the next turn is an ordinary one, a constrained last answer, or none at
 * all because a limit is reached (F-13, F-14, RT-01). Pure.
 */
import { AgentBudgetExceeded, AgentRepeatedFailureError } from "#lib/agent-error.ts";
import type { RunPolicy } from "#lib/agent/policy.ts";
import type { CallEvidence, RunEvidence } from "#lib/durable/run-state.ts";

export type Budget = "turns" | "toolCalls" | "duration";

export type TurnPlan =
  | { readonly _tag: "ordinary" }
  | { readonly _tag: "final-answer"; readonly for: Budget }
  | { readonly _tag: "stop"; readonly error: AgentBudgetExceeded | AgentRepeatedFailureError };

/** Calls that count: every declared one, rejected ones included, but not those a budget refused (F-06, F-13). */
const counts = (call: CallEvidence): boolean =>
  !(call.settled?.kind === "not-executed" && call.settled.source === "preflight");

export const countCalls = (evidence: RunEvidence): number =>
  evidence.turns.reduce((sum, turn) => sum + turn.calls.filter(counts).length, 0);

/** Failed calls in a row up to now, folded per turn in declaration order; a success starts again at 0. */
export const failureStreak = (evidence: RunEvidence): { readonly length: number; readonly last: CallEvidence | undefined } => {
  let length = 0;
  let last: CallEvidence | undefined;
  for (const turn of evidence.turns) {
    for (const call of turn.calls.filter(counts)) {
      const { settled } = call;
      if (settled === undefined) continue;
      if (!settled.isFailure) length = 0;
      else if (settled.kind === "failed" || settled.kind === "rejected") {
        length += 1;
        last = call;
      }
    }
  }
  return { length, last };
};

const exhausted = (dimension: Budget, limit: number, seen: number): AgentBudgetExceeded =>
  new AgentBudgetExceeded({
    dimension,
    limit,
    seen,
    message: `The run reached its limit of ${limit} ${dimension === "toolCalls" ? "tool calls" : dimension === "turns" ? "turns" : "active milliseconds"}; seen ${seen}.`,
  });

/** Which budget is used up before the next request, if any. */
export const exhaustedBudget = (
  evidence: RunEvidence,
  policy: RunPolicy,
  activeMillis: number,
): AgentBudgetExceeded | undefined => {
  const refused = evidence.turns.some((turn) =>
    turn.calls.some((call) => call.settled?.kind === "not-executed" && call.settled.source === "preflight"),
  );
  const calls = countCalls(evidence);
  if (refused) return exhausted("toolCalls", policy.maxToolCalls, calls);
  if (activeMillis >= policy.maxDurationMillis) return exhausted("duration", policy.maxDurationMillis, activeMillis);
  if (evidence.turns.length >= policy.maxTurns) return exhausted("turns", policy.maxTurns, evidence.turns.length);
  return undefined;
};

export const planTurn = (evidence: RunEvidence, policy: RunPolicy, activeMillis: number): TurnPlan => {
  const streak = failureStreak(evidence);
  if (policy.repeatedFailureLimit > 0 && streak.length >= policy.repeatedFailureLimit && streak.last !== undefined) {
    const { declared } = streak.last;
    return {
      _tag: "stop",
      error: new AgentRepeatedFailureError({
        toolCallId: declared.callId,
        toolName: declared.toolName,
        limit: policy.repeatedFailureLimit,
        seen: streak.length,
        message: `${streak.length} tool calls in a row failed, the last one of ${declared.toolName}; the limit is ${policy.repeatedFailureLimit}.`,
      }),
    };
  }
  const budget = exhaustedBudget(evidence, policy, activeMillis);
  if (budget === undefined) return { _tag: "ordinary" };
  // The last answer was given already and declared calls again: there is no second one.
  const answered = evidence.turns.at(-1)?.recorded.finalAnswerFor !== undefined;
  return policy.onExhaustion === "final-answer" && !answered
    ? { _tag: "final-answer", for: budget.dimension }
    : { _tag: "stop", error: budget };
};
