import { RotateCw } from "lucide-react";
import { waitingWords } from "#lib/client/repeat-reads.ts";

/** Over a placeholder whose read has failed and is being tried again: what holds it up. Nothing where it has not. */
export function Retrying({ failure }: { failure: Error | null }) {
  if (failure === null) return null;
  return (
    <output
      className="tone-attention tone-wash tone-edge flex items-center gap-2 border-b px-4 py-1.5"
      data-retrying
    >
      <RotateCw aria-hidden size={14} className="tone-text shrink-0 animate-spin" />
      <span>{waitingWords(failure)}. What belongs here comes with its answer.</span>
    </output>
  );
}
