/**
 * Whether what surrounds a call is still what a person was shown when they press (CONSOLE, re-check at the
 * click). Pure; the page and the decision compare by the same rule.
 */
import type { ApprovalBasis, ApprovalRequestContent, BasisChange } from "#lib/contract/approval.ts";

type Rule = Pick<ApprovalRequestContent, "approversRequired" | "selfApproval" | "denial" | "risk">;

/** A rule for approvals in words that can be compared and shown. */
export const approvalRuleWords = (rule: Rule): string =>
  [
    rule.approversRequired === 1 ? "1 person" : `${rule.approversRequired} people`,
    rule.selfApproval ? "the requester may be one" : "never the requester",
    `a denial is ${rule.denial}`,
    `risk ${rule.risk}`,
  ].join(", ");

const shortDigest = (digest: string | null): string =>
  digest === null ? "not registered" : digest.slice(0, 12);

const words: { readonly [Part in BasisChange["part"]]: (basis: ApprovalBasis) => string } = {
  toolDigest: ({ toolDigest }) => shortDigest(toolDigest),
  definitionDigest: ({ definitionDigest }) => shortDigest(definitionDigest),
  approvalRule: ({ approvalRule }) => approvalRule,
  authorization: ({ authorization }) =>
    authorization === "asked" ? "a policy is asked" : "no policy is installed",
  visibility: ({ visibility }) =>
    visibility === "not-told" ? "the filter did not answer" : visibility,
  callsLeft: ({ callsLeft }) => String(callsLeft),
  expiresAt: ({ expiresAt }) =>
    expiresAt === null ? "never" : new Date(expiresAt).toISOString().replace(".000Z", "Z"),
};

// Written in the order of the map above, whose keys are exactly the parts.
const parts = Object.keys(words) as ReadonlyArray<BasisChange["part"]>;

/** What is different, in a fixed order; empty when nothing is. */
export const basisChanges = (
  before: ApprovalBasis,
  now: ApprovalBasis,
): ReadonlyArray<BasisChange> =>
  parts
    .filter((part) => before[part] !== now[part])
    .map((part) => ({ part, before: words[part](before), now: words[part](now) }));
