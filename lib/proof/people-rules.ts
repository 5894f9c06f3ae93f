/** What people did, as a pack's approvals and audit rows tell it, against what the run's records heard. Pure. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { RecordOf } from "#lib/contract/records.ts";
import { auditDigest } from "#lib/durable/audit-chain.ts";
import type { ProofFault } from "./call-rules.ts";
import type { ProofApproval, ProofAudit } from "./proof-lines.ts";

const decodeJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Json));

/** Every row's own digest, and the order; the rows between them belong to other runs and are not in the file. */
export const auditFaults = (
  tenantId: string,
  audits: ReadonlyArray<ProofAudit>,
): ReadonlyArray<ProofFault> =>
  audits.flatMap((row, index): ReadonlyArray<ProofFault> => {
    const at = (message: string): ProofFault => ({
      check: "audit",
      where: `audit row ${row.sequence}`,
      message,
    });
    const before = audits[index - 1];
    if (before !== undefined && row.sequence <= before.sequence)
      return [at("It stands out of order.")];
    if (before?.sequence === row.sequence - 1 && before.digest !== row.previousDigest)
      return [at("It does not follow the row before it.")];
    const [earlier, later] = [row.before, row.after].map((text) =>
      text === null ? null : Result.getOrElse(decodeJson(text), () => undefined),
    );
    if (earlier === undefined || later === undefined) return [at("What it says cannot be read.")];
    const digest = auditDigest({ ...row, tenantId, before: earlier, after: later }, row);
    return digest === row.digest ? [] : [at("Its content is not what was digested.")];
  });

type Decided = RecordOf<"ApprovalDecided">;
type Requested = RecordOf<"ApprovalRequested">;

/** Whether two lists name the same people, each once. */
const samePeople = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.toSorted().join("\n") === other.toSorted().join("\n");

/** What an approval's line says otherwise than the records do; the first of it, in words. */
const disagreement = (
  approval: ProofApproval,
  requested: Requested,
  decided: Decided | undefined,
): string | undefined => {
  if (
    approval.turn !== requested.turn ||
    approval.callId !== requested.callId ||
    approval.toolName !== requested.toolName
  )
    return "The approval is of another call than the run asked about.";
  if (approval.approversRequired !== requested.request.approversRequired)
    return `The approval needs ${approval.approversRequired} people; the run asked for ${requested.request.approversRequired}.`;
  if (approval.parametersDigest !== (decided ?? requested.request).parametersDigest)
    return "The approval is of other arguments than the run heard of.";
  if (decided === undefined) return undefined;
  if (approval.state !== decided.decision)
    return `The run heard ${decided.decision}; the approval says ${approval.state}.`;
  const { decidedBy } = approval;
  if (
    decidedBy?.kind !== decided.actor.kind ||
    decidedBy.id !== decided.actor.id ||
    decidedBy.name !== decided.actor.name
  )
    return `The run heard it from ${decided.actor.name}; the approval names somebody else.`;
  if (approval.decidedAt !== decided.decidedAt)
    return "The approval says another time than the run heard.";
  const approved = approval.approvers.filter(({ decision }) => decision === "approved");
  return decided.approvers === undefined ||
    samePeople(
      approved.map(({ operatorId }) => operatorId),
      decided.approvers.map(({ id }) => id),
    )
    ? undefined
    : "The approval names other people than the run heard of.";
};

/** Every approval is of a request that the run made, once, and says of it what the run heard. */
export const approvalFaults = (
  requests: ReadonlyArray<Requested>,
  decisions: ReadonlyArray<Decided>,
  approvals: ReadonlyArray<ProofApproval>,
): ReadonlyArray<ProofFault> => {
  const requested = new Map<string, Requested>(requests.map((one) => [one.requestId, one]));
  const decided = new Map<string, Decided>(decisions.map((one) => [one.requestId, one]));
  const seen = new Set<string>();
  return approvals.flatMap((approval): ReadonlyArray<ProofFault> => {
    const at = (message: string): ProofFault => ({
      check: "audit",
      where: `request ${approval.requestId}`,
      message,
    });
    if (seen.has(approval.requestId)) return [at("Its approval is in the file twice.")];
    seen.add(approval.requestId);
    const request = requested.get(approval.requestId);
    if (request === undefined) return [at("The run never asked for this approval.")];
    const message = disagreement(approval, request, decided.get(approval.requestId));
    return message === undefined ? [] : [at(message)];
  });
};

/** Every decision by a person that the run heard of is in the file and in the audit. */
export const peopleFaults = (
  decisions: ReadonlyArray<Decided>,
  approvals: ReadonlyArray<ProofApproval>,
  audits: ReadonlyArray<ProofAudit>,
): ReadonlyArray<ProofFault> =>
  decisions.flatMap((decided): ReadonlyArray<ProofFault> => {
    if (decided.actor.kind !== "operator") return [];
    const at = (message: string): ProofFault => ({
      check: "audit",
      where: `request ${decided.requestId}`,
      message,
    });
    if (!approvals.some(({ requestId }) => requestId === decided.requestId))
      return [at("Its approval is not in the file.")];
    const people =
      decided.decision === "approved" ? (decided.approvers ?? [decided.actor]) : [decided.actor];
    return people.flatMap((person) =>
      audits.some(
        (row) =>
          row.accepted &&
          row.verb === "decide-approval" &&
          row.target === decided.requestId &&
          row.actor.id === person.id,
      )
        ? []
        : [at(`The audit has no decision of ${person.name} about it.`)],
    );
  });
