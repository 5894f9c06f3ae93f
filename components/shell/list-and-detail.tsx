"use client";
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";

/** List left and detail right; one of the two where it is narrow. */
export function ListAndDetail({
  list,
  detail,
  rows,
  backTo,
  onBack,
}: {
  list: ReactNode;
  /** Undefined while nothing is chosen. */
  detail: ReactNode | undefined;
  /** How many rows the list has; undefined while that is not known. */
  rows: number | undefined;
  backTo: string;
  onBack: () => void;
}) {
  const chosen = detail !== undefined;
  // The list says itself why it is empty; beside it there would be nothing to choose.
  if (!chosen && rows === 0) return <div className="min-h-0 flex-1 overflow-auto">{list}</div>;
  return (
    <div className="flex min-h-0 flex-1">
      <div
        className={`min-h-0 w-full overflow-auto border-line lg:w-[380px] lg:shrink-0 lg:border-r ${chosen ? "max-lg:hidden" : ""}`}
      >
        {list}
      </div>
      <div className={`flex min-h-0 min-w-0 flex-1 flex-col ${chosen ? "" : "max-lg:hidden"}`}>
        {chosen ? (
          <>
            <button
              type="button"
              onClick={onBack}
              className="flex h-8 shrink-0 items-center gap-1 border-b border-line px-3 text-soft lg:hidden"
            >
              <ArrowLeft aria-hidden size={14} /> {backTo}
            </button>
            {detail}
          </>
        ) : (
          <p className="p-4 text-soft">{rows === undefined ? "" : "Choose a row from the list."}</p>
        )}
      </div>
    </div>
  );
}
