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
import { type ApproverVerdict, checkApprovers } from "#lib/approval/approver-rule.ts";
import { type ApprovalRequestContent, approvalLimits } from "#lib/contract/approval.ts";
import type { Actor } from "#lib/contract/records.ts";
import { boundedText } from "#lib/diagnostics/bounded-text.ts";

/** What one request came to. */
export type ApprovalOutcome =
  | {
      readonly _tag: "approved";
      readonly actor: Actor;
      /** Everybody who approved, where people did. */
      readonly approvers?: ReadonlyArray<Actor>;
      readonly reason: string;
    }
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
  const { decisions, failures } = Option.match(exit, {
    onNone: () => ({ decisions: [], failures: [] }),
    onSome: (ended) => readAnswers(ended, first, requests.length),
  });
  return {
    outcomes: requests.map((request, index) => outcomeOf(request, decisions[index], now)),
    failures,
  };
});

/** The resolver's answers; none of them when it failed or did not answer every request. */
const readAnswers = (
  exit: Exit.Exit<ReadonlyArray<ApprovalDecision>, ApprovalPolicyError>,
  first: ApprovalRequestContent,
  expected: number,
): {
  readonly decisions: ReadonlyArray<ApprovalDecision>;
  readonly failures: ReadonlyArray<ApprovalPolicyError>;
} => {
  const failed = (message: string, cause?: unknown) => ({
    decisions: [],
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
  if (Exit.isFailure(exit)) {
    return Option.match(Cause.findErrorOption(exit.cause), {
      onNone: () => failed("The approval resolver broke, so nobody has decided.", exit.cause),
      onSome: (error) => ({ decisions: [], failures: [error] }),
    });
  }
  return Array.isArray(exit.value) && exit.value.length === expected
    ? { decisions: exit.value, failures: [] }
    : failed(
        `The approval resolver did not answer each of ${expected} requests, so nobody has decided.`,
      );
};

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
      return { _tag: "denied", actor: decision.actor, reason: boundedReason(decision.reason) };
    case "approved": {
      // The type is a promise of the host's code; a wrong promise must not approve anything.
      const approvers: ReadonlyArray<Actor> = Array.isArray(decision.approvers)
        ? decision.approvers
        : [];
      const [actor] = approvers;
      const verdict = checkApprovers(
        request,
        approvers.map(({ id }) => id),
      );
      return verdict._tag === "granted" && actor !== undefined
        ? { _tag: "approved", actor, approvers, reason: boundedReason(decision.reason) }
        : { _tag: "unresolved", because: missingText(verdict) };
    }
    default:
      return { _tag: "unresolved", because: "Nobody could decide." };
  }
};

const boundedReason = (reason: string | undefined): string =>
  typeof reason === "string" ? boundedText(reason, approvalLimits.maxReasonBytes) : "";

const missingText = (verdict: ApproverVerdict): string => {
  const missing = verdict._tag === "granted" ? 1 : verdict.missing;
  return `${missing} more approval${missing === 1 ? " is" : "s are"} needed from other people.`;
};
