import { UserCheck, UserRound } from "lucide-react";
import { Section } from "#components/ui/facts.tsx";
import { countOf } from "#components/ui/durations.ts";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";

/** Who has approved a call that needs several people, and who is still missing (C041). */
export default function Approvers({ detail }: { detail: ApprovalDetail }) {
  const { approvers, approversMissing, content } = detail;
  return (
    <Section
      title="Approvers"
      aside={
        <span className="text-soft">
          {approvers.length} of {content.approversRequired}
        </span>
      }
    >
      <ul className="flex flex-col gap-1">
        {approvers.map((one) => (
          <li key={one.operatorId} className="flex flex-wrap items-baseline gap-x-2">
            <UserCheck aria-hidden size={14} className="translate-y-0.5 text-success" />
            <strong>
              <VisibleText text={one.name} line />
            </strong>
            <span className="text-soft">
              approved at <At at={one.at} />
            </span>
            {one.reason === "" ? null : <VisibleText text={one.reason} line />}
          </li>
        ))}
        {approversMissing === 0 ? null : (
          <li className="flex items-baseline gap-2 text-attention">
            <UserRound aria-hidden size={14} className="translate-y-0.5" />
            {countOf(approversMissing, "more person", "more people")} must approve
            {content.selfApproval ? "" : ", not the requester"}; one denial ends it.
          </li>
        )}
      </ul>
    </Section>
  );
}
