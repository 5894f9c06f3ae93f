import { EyeOff } from "lucide-react";
import { VisibleText } from "#components/ui/visible-text.tsx";
import type { ApprovalRequestContent } from "#lib/contract/approval.ts";

const codePointText = (codePoint: number): string =>
  `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;

/** Says that the arguments hold characters that hide or reorder, which ones and where (C054). */
export function HiddenCharactersWarning({ content }: { content: ApprovalRequestContent }) {
  const found = content.hiddenCharacters;
  if (found === undefined || found.characters.length === 0) return null;
  return (
    <div
      role="note"
      className="tone-attention tone-wash tone-edge mx-4 mb-3 flex gap-2 rounded-sm border p-2"
    >
      <EyeOff aria-hidden size={15} className="tone-text mt-0.5 shrink-0" />
      <p className="break-words">
        <strong>The arguments hold hidden characters.</strong> Each is drawn below as a visible
        escape such as <code>{"\\u{202E}"}</code>. Found{" "}
        {found.characters.map((one) => `${one.name} (${codePointText(one.codePoint)})`).join(", ")}
        {found.places.length === 0 ? null : (
          <>
            {" "}
            in{" "}
            <code className="break-all">
              <VisibleText text={found.places.join(", ")} line />
            </code>
          </>
        )}
        .
      </p>
    </div>
  );
}
