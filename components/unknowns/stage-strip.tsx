import { CircleCheckBig, CircleHelp, CircleSlash } from "lucide-react";
import type { ReactNode } from "react";
import { At } from "#components/ui/time.tsx";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { EffectStage, UnknownDetail } from "#lib/contract/unknown-views.ts";

const look = {
  yes: { Icon: CircleCheckBig, tone: "text-success", edge: "border-success" },
  "not-known": { Icon: CircleHelp, tone: "text-attention", edge: "border-attention border-dashed" },
  no: { Icon: CircleSlash, tone: "text-soft", edge: "border-line" },
} as const;

/** Four boxes of an effect: prepared, sent, answered, recorded, with what is known of each and how. */
export function StageStrip({ detail }: { detail: UnknownDetail }) {
  const { answered, sent } = detail.stages;
  const stages: ReadonlyArray<readonly [string, EffectStage["known"], ReactNode]> = [
    ["prepared", "yes", <At key="at" at={detail.preparedAt} timeOnly />],
    ["sent", sent.known, <VisibleText key="why" text={sent.why} />],
    ["answered", answered.known, <VisibleText key="why" text={answered.why} />],
    [
      "recorded",
      "no",
      detail.resolution === null
        ? "no result is stored"
        : detail.resolution.actor.kind === "policy"
          ? "settled by a rule, below"
          : "settled by a person, below",
    ],
  ];
  return (
    <ol aria-label="Stages of the effect" className="grid gap-2 sm:grid-cols-4">
      {stages.map(([name, known, note]) => {
        const { Icon, tone, edge } = look[known];
        return (
          <li key={name} className={`min-w-0 rounded-sm border p-2 ${edge}`}>
            <span className="flex items-center gap-1 font-semibold">
              <Icon aria-hidden size={14} className={tone} />
              {name}
            </span>
            <span className="block text-table break-words text-soft">
              {known === "not-known" ? "not known: " : ""}
              {note}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
