/**
 * Answers for every request of one batch, for runs that wait in memory.
 */
import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import { ApprovalPolicyError } from "#lib/agent-error.ts";
import type { ApprovalDecision, ApprovalResolverShape } from "#lib/approval/ApprovalResolver.ts";
import {
  type ApprovalPolicyShape,
  type PolicyAnswer,
  askPolicy,
} from "#lib/approval/ApprovalPolicy.ts";
import { exitWithin } from "#lib/approval/exit-within.ts";
import { checkApprovers } from "#lib/approval/approver-rule.ts";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";
import type { Actor } from "#lib/contract/records.ts";

/** What one request came to. */
export type ApprovalOutcome =
  | { readonly _tag: "approved"; readonly actor: Actor; readonly reason: string }
  | { readonly _tag: "denied"; readonly actor: Actor; readonly reason: string }
  /** Nobody answered before the expiry; decided by the system (`A-07`). */
  | { readonly _tag: "expired"; readonly actor: Actor; readonly expiredAt: number }
  | { readonly _tag: "unresolved"; readonly because: string };

/** Outcomes in the order of the requests, and what went wrong on the way. */
export interface ResolvedApprovals {
  readonly outcomes: ReadonlyArray<ApprovalOutcome>;
  /** Failures of policy and resolver, kept typed; none of them approved anything (`A-10`, `A-13`). */
  readonly failures: ReadonlyArray<ApprovalPolicyError>;
}

/** Who expires requests. */
export const systemActor: Actor = { kind: "system", id: "expiry", name: "Expiry" };

/**
 * Asks the rules about each request, and the resolver about all that the rules
 * leave to a person, at once (`A-11`).
 *
 * A request whose expiry passes first is `expired`, and an answer that comes later
 * is not used (`A-07`). A resolver that fails leaves its requests `unresolved`. An
 * approval counts only with as many different approvers as the request asks for.
 */
export const resolveApprovals = Effect.fnUntraced(function* (
  requests: ReadonlyArray<ApprovalRequestContent>,
  policy: ApprovalPolicyShape,
  resolver: ApprovalResolverShape,
): Effect.fn.Return<ResolvedApprovals> {
  const verdicts = yield* Effect.forEach(requests, (request) => askPolicy(policy, request));
  const failures = verdicts.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  const forPeople = requests.filter((_, index) => verdicts[index]?.answer._tag === "defer");
  const answers = yield* askPeople(forPeople, resolver);
  const answered = new Map(forPeople.map((request, index) => [request, answers.outcomes[index]]));
  return {
    outcomes: requests.map(
      (request, index) =>
        policyOutcome(verdicts[index]?.answer) ??
        answered.get(request) ?? { _tag: "unresolved", because: "Nobody answered the request." },
    ),
    failures: [...failures, ...answers.failures],
  };
});

const policyOutcome = (answer: PolicyAnswer | undefined): ApprovalOutcome | undefined => {
  if (answer === undefined || answer._tag === "defer") return undefined;
  const actor: Actor = { kind: "policy", id: answer.rule, name: answer.rule };
  return answer._tag === "approve"
    ? { _tag: "approved", actor, reason: answer.reason ?? "" }
    : { _tag: "denied", actor, reason: answer.reason };
};

const askPeople = Effect.fnUntraced(function* (
  requests: ReadonlyArray<ApprovalRequestContent>,
  resolver: ApprovalResolverShape,
): Effect.fn.Return<ResolvedApprovals> {
  const [first] = requests;
  if (first === undefined) return { outcomes: [], failures: [] };
  const deadline = latestExpiry(requests);
  const asked = yield* Clock.currentTimeMillis;
  const exit = yield* exitWithin(
    Effect.suspend(() => resolver.resolve(requests)),
    deadline === "never" ? Duration.infinity : Math.max(0, deadline - asked),
  );
  const now = yield* Clock.currentTimeMillis;
  if (Option.isNone(exit)) {
    return {
      outcomes: requests.map((request) => outcomeOf(request, { _tag: "unresolved" }, now)),
      failures: [],
    };
  }
  const failed = (message: string, cause?: unknown): ResolvedApprovals => ({
    outcomes: requests.map((request) => outcomeOf(request, { _tag: "unresolved" }, now)),
    failures: [
      new ApprovalPolicyError({
        toolCallId: first.callId,
        toolName: first.toolName,
        part: "resolver",
        message,
        ...(cause === undefined ? {} : { cause }),
      }),
    ],
  });
  if (Exit.isFailure(exit.value)) {
    const { cause } = exit.value;
    const typed = Cause.findErrorOption(cause);
    return Option.isSome(typed)
      ? { ...failed(""), failures: [typed.value] }
      : failed("The approval resolver broke, so nobody has decided.", cause);
  }
  const decisions = exit.value.value;
  if (!Array.isArray(decisions) || decisions.length !== requests.length) {
    return failed(
      `The approval resolver did not answer each of ${requests.length} requests, so nobody has decided.`,
    );
  }
  return {
    outcomes: requests.map((request, index) => outcomeOf(request, decisions[index], now)),
    failures: [],
  };
});

const latestExpiry = (requests: ReadonlyArray<ApprovalRequestContent>): number | "never" =>
  requests.reduce<number | "never">(
    (latest, { expiresAt }) =>
      latest === "never" || expiresAt === "never" ? "never" : Math.max(latest, expiresAt),
    0,
  );

const outcomeOf = (
  request: ApprovalRequestContent,
  decision: ApprovalDecision | undefined,
  now: number,
): ApprovalOutcome => {
  if (request.expiresAt !== "never" && now >= request.expiresAt) {
    return { _tag: "expired", actor: systemActor, expiredAt: request.expiresAt };
  }
  switch (decision?._tag) {
    case "denied":
      return { _tag: "denied", actor: decision.actor, reason: decision.reason };
    case "approved": {
      const verdict = checkApprovers(
        request,
        decision.approvers.map(({ id }) => id),
      );
      return verdict._tag === "granted"
        ? { _tag: "approved", actor: decision.approvers[0], reason: decision.reason ?? "" }
        : {
            _tag: "unresolved",
            because: `${verdict.missing} more approval${verdict.missing === 1 ? " is" : "s are"} needed from other people.`,
          };
    }
    default:
      return { _tag: "unresolved", because: "Nobody could decide." };
  }
};
