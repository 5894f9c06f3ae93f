/** What the runtime left out of a value or cut, where it says so. Pure. */
import { bytesText } from "#components/ui/durations.ts";
import { type ExactJson, exactAt } from "#lib/client/exact-json.ts";

const reasons: ReadonlyMap<string, string> = new Map([
  ["redacted", "hidden on purpose"],
  ["cycle", "already shown above"],
  ["limit", "left out: over its bound"],
  ["unsupported", "left out: not readable"],
]);

const textMarks: ReadonlyArray<readonly [marker: string, words: string]> = [
  ["[redacted]", "secrets hidden"],
  ["[truncated]", "cut"],
];

/** In words; undefined where nothing is missing. A text that only looks like a marker is marked too: better twice than never. */
export const markOf = (value: ExactJson): string | undefined => {
  if (value.kind === "string") {
    const words = textMarks
      .filter(([marker]) => value.value.includes(marker))
      .map(([, word]) => word);
    return words.length === 0 ? undefined : words.join(", ");
  }
  if (value.kind !== "object") return undefined;
  const tag = exactAt(value, ["_tag"]);
  const reason = exactAt(value, ["reason"]);
  if (tag?.kind === "string" && tag.value === "Omitted" && reason?.kind === "string")
    return reasons.get(reason.value) ?? "left out";
  const cut = exactAt(value, ["truncated"]) ?? exactAt(value, ["cut"]);
  if (cut?.kind !== "boolean" || !cut.value) return undefined;
  const bytes = exactAt(value, ["originalBytes"]);
  return bytes?.kind === "number" ? `cut, ${bytesText(Number(bytes.text))} before` : "cut";
};
