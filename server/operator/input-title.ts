import type { Json } from "#lib/contract/json/json.ts";

const maxTitleLength = 200;

const firstText = (value: Json, depth: number): string | undefined => {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (depth === 0 || typeof value !== "object" || value === null) return undefined;
  for (const part of Object.values(value)) {
    const text = firstText(part, depth - 1);
    if (text !== undefined) return text;
  }
  return undefined;
};

/** What a list calls a run: the first line of the first text in its input, at most 200 characters. */
export const inputTitle = (input: Json): string => {
  const text = firstText(input, 3) ?? JSON.stringify(input);
  const line = text.trim().split(/\r\n|\r|\n/, 1)[0] ?? "";
  return line.length <= maxTitleLength
    ? line
    : `${line.slice(0, maxTitleLength - 1).toWellFormed()}…`;
};
