/** Whether a decision may stand, from the locked row alone: no clock, no store, no surprise. */
import * as Result from "effect/Result";
import { checkApprovers } from "#lib/approval/approver-rule.ts";
import { approvalLimits } from "#lib/contract/approval.ts";
import type { DecideApproval } from "#lib/contract/commands.ts";
import {
  ApprovalAlreadyDecided,
  ApprovalChanged,
  ApproverRefused,
  InvalidInput,
} from "#lib/contract/errors.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import type { ApprovalState } from "#lib/contract/status.ts";

/** The request as it stands in the database, its time by the database's clock. */
export interface ApprovalToJudge {
  readonly state: ApprovalState;
  readonly parametersDigest: string;
  readonly approversRequired: number;
  readonly selfApproval: boolean;
  /** Operator who started the run. */
  readonly requesterId: string;
  /** Milliseconds; null: never. */
  readonly expiresAt: number | null;
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  /** Operators who have approved so far, where more than one must. */
  readonly approvedBy: ReadonlyArray<string>;
  /** The database's clock when the row was locked, milliseconds. */
  readonly now: number;
}

/** What a person answered. */
export type ApprovalAnswerToJudge = Pick<
  DecideApproval,
  "decision" | "parametersDigest" | "reason"
>;

export type ApprovalVerdict =
  /** The last answer that was needed: the request is decided. */
  | { readonly kind: "decide" }
  /** One more approver: the request stays pending. */
  | { readonly kind: "count"; readonly missing: number };

export type ApprovalRefusal =
  | ApprovalAlreadyDecided
  | ApprovalChanged
  | ApproverRefused
  | InvalidInput;

/** What became of it. Only a person's answer has somebody to name: nobody withdraws it or lets it expire. */
const became: Record<ApprovalState, (by: string) => string> = {
  pending: () => "is still pending",
  approved: (by) => `was approved by ${by} before`,
  denied: (by) => `was denied by ${by} before`,
  expired: () => "expired before anybody answered",
  withdrawn: () => "was withdrawn because its run ended",
};

/** Nobody may answer a request that is decided, or whose time has passed, swept or not (A-07, C007). */
export const refuseDecided = (
  row: Pick<ApprovalToJudge, "state" | "expiresAt" | "decidedBy" | "decidedAt" | "now">,
): ApprovalAlreadyDecided | undefined => {
  if (row.state !== "pending") {
    const by = row.decidedBy ?? "the system";
    return new ApprovalAlreadyDecided({
      message: `This request ${became[row.state](by)}; it cannot be decided again.`,
      decision: row.state,
      decidedBy: by,
      decidedAt: row.decidedAt ?? row.now,
    });
  }
  if (row.expiresAt === null || row.expiresAt > row.now) return undefined;
  return new ApprovalAlreadyDecided({
    message: "This request expired before it was answered; nothing of it will run.",
    decision: "expired",
    decidedBy: "the time limit",
    decidedAt: row.expiresAt,
  });
};

/** Whether this person may answer it at all (C041). */
export const refuseApprover = (
  row: Pick<ApprovalToJudge, "selfApproval" | "requesterId" | "approvedBy" | "approversRequired">,
  operatorId: string,
): ApproverRefused | undefined => {
  if (!row.selfApproval && row.requesterId === operatorId)
    return new ApproverRefused({
      message: "You asked for this run yourself: somebody else must decide this call.",
    });
  if (row.approvedBy.includes(operatorId))
    return new ApproverRefused({
      message: `You have approved this call already; it needs ${row.approversRequired} different people.`,
    });
  return undefined;
};

/** How many further people must approve, counted by the one rule there is (A-02, C041). */
export const missingApprovers = (
  row: Pick<ApprovalToJudge, "selfApproval" | "requesterId" | "approversRequired">,
  approvedBy: ReadonlyArray<string>,
): number => {
  const verdict = checkApprovers(
    {
      requester: row.requesterId,
      approversRequired: row.approversRequired,
      selfApproval: row.selfApproval,
    },
    approvedBy,
  );
  return verdict._tag === "granted" ? 0 : verdict.missing;
};

const refuseReason = (command: ApprovalAnswerToJudge): InvalidInput | undefined => {
  if (command.decision === "denied" && command.reason.trim() === "")
    return new InvalidInput({
      message: "A denial needs a reason: the model receives it as the answer to its call.",
      path: "body.reason",
      limit: "at least one visible character",
      seen: "none",
    });
  const bytes = utf8ByteLength(command.reason);
  if (bytes > approvalLimits.maxReasonBytes)
    return new InvalidInput({
      message: `The reason may be ${approvalLimits.maxReasonBytes} bytes long; this one is ${bytes}.`,
      path: "body.reason",
      limit: `${approvalLimits.maxReasonBytes} bytes`,
      seen: `${bytes} bytes`,
    });
  return undefined;
};

const refuseChanged = (row: ApprovalToJudge, command: ApprovalAnswerToJudge) =>
  row.parametersDigest === command.parametersDigest
    ? undefined
    : new ApprovalChanged({
        message: "What would run is not what you were shown. Look at the request again.",
        seenDigest: command.parametersDigest,
        currentDigest: row.parametersDigest,
      });

export const judgeApproval = (
  row: ApprovalToJudge,
  command: ApprovalAnswerToJudge,
  operatorId: string,
): Result.Result<ApprovalVerdict, ApprovalRefusal> => {
  const refusal =
    refuseDecided(row) ??
    refuseChanged(row, command) ??
    refuseApprover(row, operatorId) ??
    refuseReason(command);
  if (refusal !== undefined) return Result.fail(refusal);
  // One denial is enough; approvals are counted.
  const missing =
    command.decision === "denied" ? 0 : missingApprovers(row, [...row.approvedBy, operatorId]);
  return Result.succeed(missing > 0 ? { kind: "count", missing } : { kind: "decide" });
};

/** Whether the expiry may be moved to `seconds` from now: only where there is one, and only to later (A-07, C013). */
export const refuseExtension = (
  row: Pick<ApprovalToJudge, "expiresAt" | "now">,
  seconds: number,
): InvalidInput | undefined => {
  if (row.expiresAt === null)
    return new InvalidInput({
      message: "This request never expires; there is no time to extend.",
      path: "body.seconds",
    });
  const left = Math.ceil((row.expiresAt - row.now) / 1_000);
  if (left < seconds) return undefined;
  return new InvalidInput({
    message: `This request is open for another ${left} s; ${seconds} s from now would be earlier.`,
    path: "body.seconds",
    limit: `more than ${left} s`,
    seen: `${seconds} s`,
  });
};
