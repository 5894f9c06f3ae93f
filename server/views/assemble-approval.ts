/** An approval's page from its rows: pure (OP-05). */
import { basisChanges } from "#lib/approval/approval-basis.ts";
import type { ApprovalBasis } from "#lib/contract/approval.ts";
import type { RunRecord } from "#lib/contract/records.ts";
import type { OperatorRole } from "#lib/contract/status.ts";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";
import { missingApprovers, refuseApprover, refuseDecided } from "#lib/approval/judge-approval.ts";
import { mayAct, neededRole } from "#server/operator/permissions.ts";
import { basisWhenAsked } from "./approval-basis.ts";
import type { ApprovalRow, BatchRow } from "./approval-rows.ts";
import { fingerprintWords } from "./fingerprint-words.ts";

export interface ApprovalEvidence {
  readonly row: ApprovalRow;
  readonly batch: ReadonlyArray<BatchRow>;
  /** The call's prepared and settled records, as far as there are any. */
  readonly execution: ReadonlyArray<RunRecord>;
  readonly operator: { readonly operatorId: string; readonly role: OperatorRole };
  /** What the call would be judged by now. */
  readonly basis: ApprovalBasis;
  readonly serverTime: number;
}

const approvedBy = (row: ApprovalRow): ReadonlyArray<string> =>
  row.approvers.map(({ operatorId }) => operatorId);

/** Only while somebody may still act on it: what has become of a decided call is its receipt's business. */
const changedSinceAsked = (
  { row, basis }: ApprovalEvidence,
  call: BatchRow | undefined,
): ApprovalDetail["changedSinceAsked"] =>
  row.state !== "pending" || call === undefined
    ? []
    : basisChanges(
        basisWhenAsked(basis, {
          content: row.content,
          toolDigest: call.toolDigest,
          definitionDigest: row.definitionDigest ?? basis.definitionDigest,
        }),
        basis,
      );

/** The same rules as the decision itself, so that a button never promises what the server would refuse. */
const mayDecide = ({
  row,
  operator,
  serverTime,
}: ApprovalEvidence): ApprovalDetail["mayDecide"] => {
  if (!mayAct(operator.role, "decide-approval"))
    return {
      allowed: false,
      why: `Deciding needs the role ${neededRole["decide-approval"]}; yours is ${operator.role}.`,
    };
  const now = { ...row, approvedBy: approvedBy(row), now: serverTime };
  const refusal = refuseDecided(now) ?? refuseApprover(now, operator.operatorId);
  if (refusal !== undefined) return { allowed: false, why: refusal.message };
  const missing = missingApprovers(row, now.approvedBy);
  return {
    allowed: true,
    why:
      row.approversRequired > 1
        ? `${row.approversRequired - missing} of ${row.approversRequired} people have approved; ${missing} must still.`
        : "You may decide this request.",
  };
};

/**
 * What ran, compared with what was approved: the digest recorded before the
 * effect against the digest that the decision names.
 */
const receiptOf = (
  { row, execution }: ApprovalEvidence,
  call: BatchRow | undefined,
): ApprovalDetail["receipt"] => {
  for (const record of execution)
    if (record._tag === "ToolCallSettled" && record.source === "drift") return "refused-changed";
  if (call === undefined || (call.state !== "succeeded" && call.state !== "failed")) return null;
  if (row.state !== "approved") return null;
  const prepared = execution.find((record) => record._tag === "ToolCallPrepared");
  const ran = prepared?.parametersDigest ?? call.parametersDigest;
  return ran === row.parametersDigest ? "ran-as-approved" : "refused-changed";
};

export const assembleApproval = (evidence: ApprovalEvidence): ApprovalDetail => {
  const { batch, operator } = evidence;
  const { input: _, ...row } = evidence.row;
  const call = batch.find((candidate) => candidate.callId === row.callId);
  const effectAt = call?.endedAt ?? null;
  return {
    ...row,
    approversMissing: row.state === "pending" ? missingApprovers(row, approvedBy(evidence.row)) : 0,
    lookers: row.lookers.filter(({ operatorId }) => operatorId !== operator.operatorId),
    basis: evidence.basis,
    changedSinceAsked: changedSinceAsked(evidence, call),
    decision:
      row.deciderKind === null || row.deciderId === null || row.decidedBy === null
        ? null
        : { kind: row.deciderKind, id: row.deciderId, name: row.decidedBy },
    delivery: {
      decidedAt: row.decidedAt,
      // A decision is a committed row before anybody is told of it.
      recordedAt: row.decidedAt,
      deliveredAt: row.deliveredAt,
      effectAt,
      // In doubt is no end, and yet all that is known of the effect.
      effect: effectAt === null && call?.state !== "unknown" ? null : (call?.state ?? null),
    },
    batch: batch.map((one) => ({
      index: one.index,
      callId: one.callId,
      toolName: one.toolName,
      state: one.state,
      needsApproval: one.needsApproval,
      requestId: one.approvalRequestId,
      summary: one.summary ?? one.toolName,
      executionClass: one.executionClass,
    })),
    fingerprint: fingerprintWords({
      toolName: row.toolName,
      toolDigest: call?.toolDigest ?? "",
      parametersDigest: row.parametersDigest,
    }),
    receipt: receiptOf(evidence, call),
    mayDecide: mayDecide(evidence),
    serverTime: evidence.serverTime,
  };
};
