/** What is different between two JSON values, by path, numbers and texts as written. Pure. */
import { type ExactJson, exactJsonText } from "./exact-json.ts";
import { childPath } from "./json-place.ts";

export interface ExactChange {
  /** Such as `$.items[2].amount`. */
  readonly path: string;
  /** Absent where it was added. */
  readonly before?: ExactJson;
  /** Absent where it was taken away. */
  readonly after?: ExactJson;
}

/** More differences than anybody reads one by one. */
export const mostChanges = 100;

const membersOf = (value: ExactJson): ReadonlyMap<string | number, ExactJson> | undefined => {
  if (value.kind === "object") return new Map(value.members);
  if (value.kind === "array") return new Map(value.items.entries());
  return undefined;
};

/** The differences in document order, at most `mostChanges`; a container of another kind is one difference. */
export const exactChanges = (before: ExactJson, after: ExactJson): ReadonlyArray<ExactChange> => {
  const changes: Array<ExactChange> = [];
  const compare = (one: ExactJson, other: ExactJson, path: string): void => {
    if (changes.length >= mostChanges) return;
    const olds = membersOf(one);
    const news = membersOf(other);
    if (one.kind !== other.kind || olds === undefined || news === undefined) {
      if (one.kind !== other.kind || exactJsonText(one) !== exactJsonText(other))
        changes.push({ path, before: one, after: other });
      return;
    }
    for (const [name, old] of olds) {
      const inner = childPath(path, name);
      const now = news.get(name);
      if (now === undefined) changes.push({ path: inner, before: old });
      else compare(old, now, inner);
    }
    for (const [name, now] of news)
      if (!olds.has(name)) changes.push({ path: childPath(path, name), after: now });
  };
  compare(before, after, "$");
  return changes.slice(0, mostChanges);
};
