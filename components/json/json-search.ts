/** Finding something in a whole JSON value, closed containers included. Pure. */
import type { ExactJson } from "#lib/client/exact-json.ts";
import { childPath } from "#lib/client/json-place.ts";
import { entriesOf, scalarText, startsOpen } from "./json-rows.ts";

/** More matches than anybody steps through. */
export const mostHits = 1_000;

/** The way to a value: its path and the names from the top. */
export interface JsonHit {
  readonly path: string;
  readonly names: ReadonlyArray<string | number>;
}

/** Places whose own name or text holds `wanted`, upper and lower case alike, in document order; at most `mostHits`. */
export const jsonHits = (value: ExactJson, wanted: string): ReadonlyArray<JsonHit> => {
  const needle = wanted.trim().toLowerCase();
  if (needle === "") return [];
  const hits: Array<JsonHit> = [];
  const names: Array<string | number> = [];
  const look = (here: ExactJson, path: string): void => {
    if (hits.length >= mostHits) return;
    const name = names.at(-1);
    const own = here.kind === "object" || here.kind === "array" ? "" : scalarText(here);
    if (
      own.toLowerCase().includes(needle) ||
      (typeof name === "string" && name.toLowerCase().includes(needle))
    )
      hits.push({ path, names: [...names] });
    for (const [childName, child] of entriesOf(here)) {
      names.push(childName);
      look(child, childPath(path, childName));
      names.pop();
    }
  };
  look(value, "$");
  return hits;
};

/** `toggled` with every container on the way to `names` open. */
export const revealing = (
  value: ExactJson,
  toggled: ReadonlySet<string>,
  names: ReadonlyArray<string | number>,
): ReadonlySet<string> => {
  const next = new Set(toggled);
  let here: ExactJson | undefined = value;
  let path = "$";
  for (const [depth, name] of names.entries()) {
    if (here === undefined) break;
    const inner = entriesOf(here);
    if (startsOpen(depth, inner.length) === next.has(path) && !next.delete(path)) next.add(path);
    here = inner.findLast(([childName]) => childName === name)?.[1];
    path = childPath(path, name);
  }
  return next;
};

/** Characters of a value's text, counted no further than `limit`: whether it is large, without writing it. */
export const weightUpTo = (value: ExactJson, limit: number): number => {
  let weight = 0;
  const weigh = (here: ExactJson): void => {
    if (weight >= limit) return;
    weight +=
      here.kind === "string"
        ? here.value.length + 2
        : here.kind === "number"
          ? here.text.length
          : 4;
    for (const [name, child] of entriesOf(here)) {
      weight += typeof name === "string" ? name.length + 4 : 1;
      weigh(child);
    }
  };
  weigh(value);
  return Math.min(weight, limit);
};
