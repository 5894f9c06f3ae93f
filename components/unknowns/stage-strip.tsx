import { CircleCheckBig, CircleHelp, CircleSlash } from "lucide-react";
import type { ReactNode } from "react";
import { At } from "#components/ui/time.tsx";
import type { UnknownDetail } from "#lib/contract/views.ts";

type Known = "yes" | "not-known" | "no";

const look = {
  yes: { Icon: CircleCheckBig, tone: "text-success", edge: "border-success" },
  "not-known": { Icon: CircleHelp, tone: "text-attention", edge: "border-attention border-dashed" },
  no: { Icon: CircleSlash, tone: "text-soft", edge: "border-line" },
} as const;

/** Four boxes of an effect: prepared, sent, answered, recorded, with what is known of each. */
export function StageStrip({ detail }: { detail: UnknownDetail }) {
  const stages: ReadonlyArray<readonly [string, Known, ReactNode]> = [
    ["prepared", "yes", <At key="at" at={detail.preparedAt} timeOnly />],
    ["sent", "not-known", "the request may have left"],
    ["answered", "not-known", "an answer may have come"],
    [
      "recorded",
      "no",
      detail.resolution === null ? "no result is stored" : "settled by a person, below",
    ],
  ];
  return (
    <ol aria-label="Stages of the effect" className="grid gap-2 sm:grid-cols-4">
      {stages.map(([name, known, note]) => {
        const { Icon, tone, edge } = look[known];
        return (
          <li key={name} className={`rounded-sm border p-2 ${edge}`}>
            <span className="flex items-center gap-1 font-semibold">
              <Icon aria-hidden size={14} className={tone} />
              {name}
            </span>
            <span className="block text-table text-soft">
              {known === "not-known" ? "not known: " : ""}
              {note}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
