import { CloudOff } from "lucide-react";
import { copyOf } from "./error-panel.tsx";

/** Over data that is still shown although reading it again failed. */
export function StaleNote({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const copy = copyOf(error);
  return (
    <output className="tone-attention tone-wash tone-edge flex flex-wrap items-center gap-2 border-b px-4 py-1.5">
      <CloudOff aria-hidden size={14} className="tone-text" />
      <span>
        This is what was last read. {copy.title}: {copy.next}
      </span>
      <button type="button" onClick={onRetry} className="underline underline-offset-2">
        Read again
      </button>
    </output>
  );
}
