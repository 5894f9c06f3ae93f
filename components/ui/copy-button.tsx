"use client";
import { Check, Copy } from "lucide-react";
import { useState } from "react";

/** Copies the true text, not what is drawn of it. */
export function CopyButton({ text, what }: { text: string | (() => string); what: string }) {
  const [state, setState] = useState<"ready" | "copied" | "refused">("ready");
  const copy = () => {
    navigator.clipboard
      .writeText(typeof text === "string" ? text : text())
      .then(() => setState("copied"))
      .catch(() => setState("refused"));
  };
  const Icon = state === "copied" ? Check : Copy;
  return (
    <button
      type="button"
      onClick={copy}
      onBlur={() => setState("ready")}
      className="inline-flex h-5 items-center align-middle gap-1 rounded-sm border border-transparent px-1 text-soft hover:bg-raised hover:text-ink"
      title={`Copy ${what}`}
    >
      <Icon aria-hidden size={13} />
      <span className="text-xs">
        {state === "copied"
          ? "copied"
          : state === "refused"
            ? "copy refused by the browser"
            : "copy"}
      </span>
      <span className="sr-only"> {what}</span>
    </button>
  );
}
