/** Where something stands in a JSON text: paths as people write them, lines and columns as editors show them. */

const simpleKey = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The path of a member or an item: `$.name`, `$["a b"]`, `$[3]`. */
export const childPath = (path: string, name: string | number): string => {
  if (typeof name === "number") return `${path}[${name}]`;
  return simpleKey.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
};

/** 1 for the first line and the first column. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

export const placeAt = (text: string, offset: number): TextPlace => {
  const before = text.slice(0, Math.max(0, offset));
  const line = before.split("\n").length;
  return { line, column: before.length - before.lastIndexOf("\n") };
};

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

interface Open {
  readonly path: string;
  readonly isArray: boolean;
  name: string | number;
}

const nameOf = (quoted: string): string => {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
};

/**
 * The offset of the value at each path of a text that is valid JSON, the member's name first where it has
 * one. A path is where a person looks for what is wrong with it.
 */
export const offsetsOf = (text: string): ReadonlyMap<string, number> => {
  const offsets = new Map<string, number>([["$", Math.max(0, text.search(/\S/))]]);
  const open: Array<Open> = [];
  const here = (): string => {
    const top = open.at(-1);
    return top === undefined ? "$" : childPath(top.path, top.name);
  };
  let keyNext = false;
  for (const found of text.matchAll(token)) {
    const [word] = found;
    const top = open.at(-1);
    if (word === "{" || word === "[") {
      const path = here();
      if (!offsets.has(path)) offsets.set(path, found.index);
      open.push({ path, isArray: word === "[", name: word === "[" ? 0 : "" });
      keyNext = word === "{";
    } else if (word === "}" || word === "]") {
      open.pop();
      keyNext = false;
    } else if (word === ",") {
      if (top !== undefined && typeof top.name === "number") top.name += 1;
      keyNext = top !== undefined && !top.isArray;
    } else if (word === ":") keyNext = false;
    else if (keyNext && top !== undefined) {
      top.name = nameOf(word);
      offsets.set(here(), found.index);
    } else if (!offsets.has(here())) offsets.set(here(), found.index);
  }
  return offsets;
};
