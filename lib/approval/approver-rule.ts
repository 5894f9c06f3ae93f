/**
 * Whether the people who said yes are enough. Pure; the same for ephemeral runs
 * and for the console.
 */

/** The part of an approval request that says who may grant it (`A-02`). */
export interface ApproverRule {
  readonly requester?: string;
  /** Different people who must approve, at least 1. */
  readonly approversRequired: number;
  /** Whether the requester counts as one of them. */
  readonly selfApproval: boolean;
}

/** `missing` = how many further people must still approve. */
export type ApproverVerdict =
  | { readonly _tag: "granted" }
  | { readonly _tag: "pending"; readonly missing: number }
  | { readonly _tag: "selfApprovalRefused"; readonly missing: number };

/**
 * Counts different approvers; the requester counts only where the tool allows
 * self-approval, and one person never counts twice.
 *
 * @param approverIds ids of the people who approved, in any order, repetitions allowed
 */
export const checkApprovers = (
  rule: ApproverRule,
  approverIds: ReadonlyArray<string>,
): ApproverVerdict => {
  const refusesSelf =
    !rule.selfApproval && rule.requester !== undefined && approverIds.includes(rule.requester);
  const counted = new Set(approverIds.filter((id) => rule.selfApproval || id !== rule.requester));
  const missing = Math.max(0, rule.approversRequired - counted.size);
  if (missing === 0) return { _tag: "granted" };
  return refusesSelf ? { _tag: "selfApprovalRefused", missing } : { _tag: "pending", missing };
};
