import { VisibleText } from "#components/ui/visible-text.tsx";
import type { BasisChange } from "#lib/contract/approval.ts";

const partNames: Record<BasisChange["part"], string> = {
  toolDigest: "tool contract",
  definitionDigest: "agent definition",
  approvalRule: "approval rule",
  authorization: "tool policy",
  visibility: "visibility to this run",
  callsLeft: "calls left in the budget",
  expiresAt: "time to decide",
};

/** What surrounds a call and is not as it was, part by part. */
export default function BasisChanges({ changes }: { changes: ReadonlyArray<BasisChange> }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 text-table">
      {changes.map((change) => (
        <div key={change.part} className="contents" data-changed={change.part}>
          <dt className="text-soft">{partNames[change.part]}</dt>
          <dd className="min-w-0 break-words">
            <span className="text-soft line-through">
              <VisibleText text={change.before} line />
            </span>{" "}
            → <VisibleText text={change.now} line />
          </dd>
        </div>
      ))}
    </dl>
  );
}
