import { TriangleAlert } from "lucide-react";
import { visibleText } from "#lib/contract/json/visible-text.ts";

const escapes = /(\\u\{[0-9A-F]+\})/;

/**
 * Text that a model, a tool or a person wrote: drawn as text only, with every character that hides,
 * reorders or imitates written as a visible escape (C054). Never a link, never Markdown (C055).
 */
export function VisibleText({ text, line = false }: { text: string; line?: boolean }) {
  const seen = visibleText(text, { singleLine: line });
  if (seen.hidden.length === 0) return <bdi>{seen.text}</bdi>;
  const names = seen.hidden.map((one) => one.name).join(", ");
  return (
    <bdi>
      {seen.text.split(escapes).map((piece, index) =>
        escapes.test(piece) ? (
          // Pieces of one fixed text: their place is their identity.
          // oxlint-disable-next-line react/no-array-index-key
          <mark
            key={index}
            className="mono rounded-sm border border-attention bg-transparent text-attention"
          >
            {piece}
          </mark>
        ) : (
          piece
        ),
      )}
      <span
        className="ml-1 inline-flex align-text-bottom text-attention"
        title={`Hidden characters: ${names}`}
      >
        <TriangleAlert aria-hidden size={13} />
        <span className="sr-only">Warning: hidden characters: {names}</span>
      </span>
    </bdi>
  );
}
