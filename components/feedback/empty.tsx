import { CircleCheck, Lock, SearchX } from "lucide-react";
import type { ReactNode } from "react";

/** Why a list shows nothing: there is nothing yet, nothing fits the filter, or it may not be seen. */
export type EmptyKind = "nothing-yet" | "nothing-matches" | "no-permission";

const icons = {
  "nothing-yet": CircleCheck,
  "nothing-matches": SearchX,
  "no-permission": Lock,
} as const;

export function Empty({
  kind,
  title,
  children,
}: {
  kind: EmptyKind;
  title: string;
  children?: ReactNode;
}) {
  const Icon = icons[kind];
  return (
    <div className="flex flex-col items-start gap-2 px-4 py-8" data-empty={kind}>
      <p className="flex items-center gap-2 font-semibold">
        <Icon aria-hidden size={16} className="text-soft" />
        {title}
      </p>
      {children === undefined ? null : <div className="max-w-prose text-soft">{children}</div>}
    </div>
  );
}
