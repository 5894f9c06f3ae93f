import type { HiddenCharacters } from "#lib/contract/approval.ts";
import { jsonPath } from "#lib/contract/json/json-path.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { visibleText } from "#lib/contract/json/visible-text.ts";

const maxNoted = 16;
/** UTF-16 units that are looked at closely; text of plain ASCII is free. */
const maxExamined = 65_536;
const plainText = /^[\x20-\x7E\n\t]*$/;

/**
 * Finds characters in keys and texts that hide, reorder or imitate others, so
 * that the person who approves is warned (C054).
 *
 * @param parameters already bounded JSON
 * @returns `undefined` when every character is seen as it is; marked `incomplete`
 *   when there was more unusual text than is looked at
 */
export const hiddenCharactersOf = (parameters: Json): HiddenCharacters | undefined => {
  const characters = new Map<number, string>();
  const places = new Set<string>();
  let unexamined = maxExamined;
  let incomplete = false;
  const note = (text: string, path: ReadonlyArray<string | number>) => {
    if (plainText.test(text)) return;
    const examined = text.slice(0, unexamined);
    unexamined -= examined.length;
    if (examined.length < text.length) incomplete = true;
    const { hidden } = visibleText(examined);
    if (hidden.length === 0) return;
    if (places.size < maxNoted) places.add(jsonPath(path));
    for (const { codePoint, name } of hidden) {
      if (characters.size < maxNoted || characters.has(codePoint)) characters.set(codePoint, name);
    }
  };
  // A list of its own in place of recursion: depth is data of the model.
  const open: Array<{ readonly value: Json; readonly path: ReadonlyArray<string | number> }> = [
    { value: parameters, path: [] },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === "string") note(value, path);
    if (typeof value !== "object" || value === null) continue;
    const children: Array<{ readonly value: Json; readonly path: ReadonlyArray<string | number> }> =
      [];
    if (Array.isArray(value)) {
      for (const [index, child] of value.entries())
        children.push({ value: child, path: [...path, index] });
    } else {
      for (const [key, child] of Object.entries(value)) {
        note(key, [...path, key]);
        children.push({ value: child, path: [...path, key] });
      }
    }
    open.push(...children.toReversed());
  }
  if (characters.size === 0 && !incomplete) return undefined;
  const found = {
    characters: Array.from(characters, ([codePoint, name]) => ({ codePoint, name })),
    places: [...places],
  };
  return incomplete ? { ...found, incomplete } : found;
};
