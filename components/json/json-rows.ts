/** A JSON value as the lines that are drawn of it: pure, so that large values are tested without a browser. */
import { type ExactJson, exactJsonText } from "#lib/client/exact-json.ts";
import { childPath } from "#lib/client/json-place.ts";

export interface JsonRow {
  /** Unique within the value: keys and indexes from the top, `$` for the whole. */
  readonly path: string;
  readonly depth: number;
  /** Key or index of this value in its container; undefined at the top. */
  readonly name: string | number | undefined;
  readonly value: ExactJson;
  /** Members or items of a container that has some. */
  readonly children: number;
  readonly open: boolean;
}

/** Containers nested deeper than this start closed. */
export const openDepth = 4;
/** Containers with more entries than this start closed, the whole value aside. */
export const openEntries = 200;

/** Members or items, each with its name in the container; none of a scalar. */
export const entriesOf = (
  value: ExactJson,
): ReadonlyArray<readonly [string | number, ExactJson]> => {
  if (value.kind === "object") return value.members;
  if (value.kind === "array") return value.items.map((item, index) => [index, item] as const);
  return [];
};

/** Whether a container of that many entries is open before anybody touches it. */
export const startsOpen = (depth: number, count: number): boolean =>
  depth === 0 || (depth < openDepth && count <= openEntries);

/** The rows in order; `toggled` holds the paths whose containers are not as they start. */
export const jsonRows = (
  value: ExactJson,
  toggled: ReadonlySet<string>,
): ReadonlyArray<JsonRow> => {
  const rows: Array<JsonRow> = [];
  const add = (
    here: ExactJson,
    name: string | number | undefined,
    path: string,
    depth: number,
  ): void => {
    const inner = entriesOf(here);
    const open = inner.length > 0 && startsOpen(depth, inner.length) !== toggled.has(path);
    rows.push({ path, depth, name, value: here, children: inner.length, open });
    if (!open) return;
    for (const [childName, child] of inner)
      add(child, childName, childPath(path, childName), depth + 1);
  };
  add(value, undefined, "$", 0);
  return rows;
};

/** What a closed container or an empty one says of itself. */
export const containerText = (value: ExactJson): string => {
  if (value.kind === "object") {
    return value.members.length === 0 ? "{} empty" : `{ ${value.members.length} }`;
  }
  if (value.kind === "array")
    return value.items.length === 0 ? "[] empty" : `[ ${value.items.length} ]`;
  return "";
};

/** A scalar as written in JSON, without the quotes of a string. */
export const scalarText = (value: ExactJson): string =>
  value.kind === "string" ? value.value : exactJsonText(value);
