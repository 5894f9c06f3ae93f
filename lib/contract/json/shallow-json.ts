/**
 * Short cuts for what nearly every value is: plain data that is not deep. Each gives the very answer of the
 * walk in `json-walk.ts`, or `undefined`, and then the walk is asked. A run reads the same small values many
 * times, and the walk's care costs several times as much as the reading.
 */
import type { Json } from "./json.ts";

/** Native recursion is fine this deep; deeper values take the walk, whose depth costs no stack (R48). */
const maxDepth = 32;

/** The keys of an object that is nothing but data, or undefined. A `toJSON` method makes it something else. */
const plainKeys = (value: object): Array<string> | undefined => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  return "toJSON" in value ? undefined : Object.keys(value);
};

/** Few keys, as nearly every object has, are put in order where they are: `sort` copies them twice. */
const sortKeys = (keys: Array<string>): Array<string> => {
  if (keys.length > 16) return keys.sort();
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? "";
    let at = index;
    for (; at > 0 && (keys[at - 1] ?? "") > key; at--) keys[at] = keys[at - 1] ?? "";
    keys[at] = key;
  }
  return keys;
};

/** Getters and proxies may throw: then the walk says where. */
const attempt = <A>(read: () => A | undefined): A | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const scalarText = (value: unknown): string | undefined => {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) return undefined;
      return Object.is(value, -0) ? "-0" : String(value);
    case "boolean":
      return value ? "true" : "false";
    default:
      return undefined;
  }
};

const textOf = (value: unknown, depth: number): string | undefined => {
  if (typeof value !== "object" || value === null) return scalarText(value);
  if (depth === 0) return undefined;
  if (Array.isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index++) {
      const item = textOf(value[index], depth - 1);
      if (item === undefined) return undefined;
      text += index === 0 ? item : `,${item}`;
    }
    return `${text}]`;
  }
  const plain = plainKeys(value);
  if (plain === undefined) return undefined;
  const keys = sortKeys(plain);
  let text = "{";
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? "";
    const item = textOf(Reflect.get(value, key), depth - 1);
    if (item === undefined) return undefined;
    text += `${index === 0 ? "" : ","}${JSON.stringify(key)}:${item}`;
  }
  return `${text}}`;
};

/** The canonical text of shallow plain data. */
export const shallowText = (value: unknown): string | undefined =>
  attempt(() => textOf(value, maxDepth));

const copyOf = (value: unknown, depth: number): Json | undefined => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "object" || depth === 0) return undefined;
  if (Array.isArray(value)) {
    const copy: Array<Json> = [];
    for (let index = 0; index < value.length; index++) {
      const item = copyOf(value[index], depth - 1);
      if (item === undefined) return undefined;
      copy.push(item);
    }
    return copy;
  }
  const keys = plainKeys(value);
  if (keys === undefined) return undefined;
  const copy: Record<string, Json> = {};
  for (const key of keys) {
    // Assignment would call the `__proto__` setter; the walk defines such a property.
    if (key === "__proto__") return undefined;
    const held: unknown = Reflect.get(value, key);
    if (held === undefined) continue;
    const item = copyOf(held, depth - 1);
    if (item === undefined) return undefined;
    copy[key] = item;
  }
  return copy;
};

const isSame = (one: unknown, other: unknown, depth: number): boolean => {
  if (typeof one !== "object" || one === null) return Object.is(one, other);
  if (typeof other !== "object" || other === null || depth === 0) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    // Not `every`, which passes over holes.
    for (let index = 0; index < one.length; index++)
      if (!isSame(one[index], other[index], depth - 1)) return false;
    return true;
  }
  const keys = Array.isArray(other) ? undefined : plainKeys(one);
  return (
    keys !== undefined &&
    keys.length === plainKeys(other)?.length &&
    keys.every(
      (key) =>
        Object.hasOwn(other, key) &&
        isSame(Reflect.get(one, key), Reflect.get(other, key), depth - 1),
    )
  );
};

/** True for two equal values of shallow plain data; false says nothing. Negative zero is not zero. */
export const isSameShallow = (one: unknown, other: unknown): boolean =>
  attempt(() => isSame(one, other, maxDepth)) === true;

/** A detached copy of shallow plain data; properties that are `undefined` are left out. */
export const shallowCopy = (value: unknown): Json | undefined =>
  attempt(() => copyOf(value, maxDepth));
