import { CallStateBadge } from "#components/status/status-badge.tsx";
import { Section } from "#components/ui/facts.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { ApprovalDetail } from "#lib/contract/approval-views.ts";

const classNote = {
  readonly: "only reads",
  idempotent: "safe to repeat",
  uncertain: "never repeated by itself",
} as const;

/** What else the batch does, in which order, and what waits for this decision (A-11). */
export function BatchPlan({ detail }: { detail: ApprovalDetail }) {
  if (detail.batch.length <= 1) {
    return (
      <Section title="Batch">
        <p className="text-soft">This is the only call of its batch. Nothing else waits for it.</p>
      </Section>
    );
  }
  const undecided = detail.batch.filter((call) => call.state === "waiting").length;
  return (
    <Section
      title="Batch"
      aside={
        <span className="text-soft">
          {undecided === 0
            ? "every call is decided"
            : `no call starts before ${undecided === 1 ? "the one" : `all ${undecided}`} waiting ${undecided === 1 ? "is" : "are"} decided`}
        </span>
      }
    >
      <ol className="text-table">
        {detail.batch.map((call) => {
          const own = call.callId === detail.callId;
          return (
            <li
              key={call.callId}
              className="flex flex-wrap items-center gap-x-3 border-b border-line py-1 last:border-0"
              aria-current={own}
            >
              <span className="mono w-6 text-right text-soft">{call.index + 1}</span>
              <span className="flex w-40">
                <CallStateBadge state={call.state} />
              </span>
              <code className={own ? "font-semibold" : ""}>
                <VisibleText text={call.toolName} line />
              </code>
              <span className="min-w-0 flex-1 truncate">
                <VisibleText text={call.summary} line />
              </span>
              <span className="text-soft">
                {own ? "this call · " : ""}
                {classNote[call.executionClass]}
              </span>
            </li>
          );
        })}
      </ol>
    </Section>
  );
}
