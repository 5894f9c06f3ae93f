/**
 * JSON read without loss: keys, order, duplicate keys and number texts stay exactly as they were
 * written, however many digits a number has. For showing and copying, never for computing (C051).
 */

export type ExactJson =
  | {
      readonly kind: "object";
      readonly members: ReadonlyArray<readonly [key: string, value: ExactJson]>;
    }
  | { readonly kind: "array"; readonly items: ReadonlyArray<ExactJson> }
  | { readonly kind: "string"; readonly value: string }
  /** `text` is the number as written, for instance `9007199254740993` or `1.10`. */
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "null" };

/** The text is not JSON, or nests deeper than `maxDepth`. */
export class ExactJsonUnreadable extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(`${message} at character ${offset}`);
    this.name = "ExactJsonUnreadable";
    this.offset = offset;
  }
}

/** Deeper than any stored value may be, and shallow enough for every engine's stack. */
const maxDepth = 512;

const whitespace = /[ \t\n\r]*/y;
// JSON strings hold no raw control characters: the class names them to refuse them.
// oxlint-disable-next-line no-control-regex
const stringToken = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordToken = /true|false|null/y;

/** Reads one JSON text; throws `ExactJsonUnreadable`. */
export const parseExactJson = (text: string): ExactJson => {
  let index = 0;
  const skip = (): void => {
    whitespace.lastIndex = index;
    whitespace.exec(text);
    index = whitespace.lastIndex;
  };
  const take = (pattern: RegExp, what: string): string => {
    pattern.lastIndex = index;
    const token = pattern.exec(text)?.[0];
    if (token === undefined) throw new ExactJsonUnreadable(`Expected ${what}`, index);
    index += token.length;
    return token;
  };
  const takeString = (): string => {
    const quoted = take(stringToken, "a string");
    if (!quoted.includes("\\")) return quoted.slice(1, -1);
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : quoted;
  };
  /** After an element: true when another one follows, false when the container closed. */
  const more = (close: string): boolean => {
    skip();
    if (text.charAt(index) === ",") {
      index += 1;
      skip();
      return true;
    }
    if (text.charAt(index) !== close)
      throw new ExactJsonUnreadable(`Expected , or ${close}`, index);
    index += 1;
    return false;
  };
  const value = (depth: number): ExactJson => {
    if (depth > maxDepth) throw new ExactJsonUnreadable(`Nested deeper than ${maxDepth}`, index);
    skip();
    const first = text.charAt(index);
    if (first === "{") return object(depth);
    if (first === "[") return array(depth);
    if (first === '"') return { kind: "string", value: takeString() };
    if (first === "-" || (first >= "0" && first <= "9")) {
      return { kind: "number", text: take(numberToken, "a number") };
    }
    const word = take(wordToken, "a value");
    return word === "null" ? { kind: "null" } : { kind: "boolean", value: word === "true" };
  };
  const object = (depth: number): ExactJson => {
    const members: Array<readonly [string, ExactJson]> = [];
    index += 1;
    skip();
    if (text.charAt(index) === "}") {
      index += 1;
      return { kind: "object", members };
    }
    do {
      const key = takeString();
      skip();
      if (text.charAt(index) !== ":") throw new ExactJsonUnreadable("Expected :", index);
      index += 1;
      members.push([key, value(depth + 1)]);
    } while (more("}"));
    return { kind: "object", members };
  };
  const array = (depth: number): ExactJson => {
    const items: Array<ExactJson> = [];
    index += 1;
    skip();
    if (text.charAt(index) === "]") {
      index += 1;
      return { kind: "array", items };
    }
    do items.push(value(depth + 1));
    while (more("]"));
    return { kind: "array", items };
  };
  const whole = value(0);
  skip();
  if (index !== text.length) throw new ExactJsonUnreadable("Expected the end", index);
  return whole;
};

/** Writes it again: without white space, or indented. `parseExactJson` of the text gives an equal value. */
export const exactJsonText = (value: ExactJson, indent = 0): string => write(value, indent, 0);

const write = (value: ExactJson, indent: number, depth: number): string => {
  switch (value.kind) {
    case "string":
      return JSON.stringify(value.value);
    case "number":
      return value.text;
    case "boolean":
      return String(value.value);
    case "null":
      return "null";
    case "array":
      return enclose(
        "[",
        "]",
        value.items.map((item) => write(item, indent, depth + 1)),
        indent,
        depth,
      );
    case "object":
      return enclose(
        "{",
        "}",
        value.members.map(
          ([key, member]) =>
            `${JSON.stringify(key)}:${indent > 0 ? " " : ""}${write(member, indent, depth + 1)}`,
        ),
        indent,
        depth,
      );
  }
};

const enclose = (
  open: string,
  close: string,
  parts: ReadonlyArray<string>,
  indent: number,
  depth: number,
): string => {
  if (parts.length === 0) return open + close;
  if (indent === 0) return open + parts.join(",") + close;
  const inner = " ".repeat(indent * (depth + 1));
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${" ".repeat(indent * depth)}${close}`;
};

/** The value at a path of keys and indexes; undefined where there is none. Of a duplicate key, the last. */
export const exactAt = (
  value: ExactJson,
  path: ReadonlyArray<string | number>,
): ExactJson | undefined => {
  let here: ExactJson | undefined = value;
  for (const part of path) {
    if (here?.kind === "object") here = here.members.findLast(([key]) => key === part)?.[1];
    else if (here?.kind === "array" && typeof part === "number") here = here.items[part];
    else return undefined;
  }
  return here;
};

/** The exact form of a value that JavaScript already holds, where no text of it is at hand. */
export const exactFromValue = (value: unknown): ExactJson =>
  parseExactJson(JSON.stringify(value) ?? "null");
