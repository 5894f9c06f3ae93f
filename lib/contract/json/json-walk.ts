import * as Schema from "effect/Schema";
import { jsonPath } from "./json-path.ts";

/**
 * A value that JSON cannot hold, or cannot hold unchanged: `undefined`, a bigint, a symbol, a
 * function, `NaN` or an infinity, a hole in an array, a cycle, an instance of a class, or a property
 * that throws when it is read (T-06, R46).
 */
export class JsonValueInvalid extends Schema.TaggedError<JsonValueInvalid>()("JsonValueInvalid", {
  /** Where in the value, bounded, for example `$.items[3].price`. */
  path: Schema.String,
  /** What stands there, as a noun phrase, for example `a bigint`. Never the value itself. */
  found: Schema.String,
}) {
  override get message(): string {
    return `The value at ${this.path} is ${this.found}, which JSON cannot hold unchanged.`;
  }
}

/**
 * What a walk meets, in document order. A callback that returns something ends the walk with it;
 * `undefined` goes on.
 */
export interface JsonVisitor<Stop> {
  /** A container begins; `size` is its number of elements or of keys. */
  readonly open: (kind: "array" | "object", size: number, at: () => string) => Stop | undefined;
  /** The key of the value that comes next. */
  readonly key: (name: string, at: () => string) => Stop | undefined;
  /** A value that holds no others. Numbers are finite. */
  readonly scalar: (value: string | number | boolean | null, at: () => string) => Stop | undefined;
  /** The innermost open container ends. */
  readonly close: (kind: "array" | "object") => void;
}

/** How a walk reads what is not plain JSON data. */
export interface JsonWalkOptions {
  /** Visit keys in the order of their UTF-16 code units instead of insertion order. */
  readonly sortKeys: boolean;
  /** Ask an object that has a `toJSON` method for the value that stands for it, once. */
  readonly callToJson: boolean;
  /** Leave out properties whose value is `undefined`, as `JSON.stringify` does, instead of refusing them. */
  readonly omitUndefined: boolean;
}

interface Frame {
  readonly container: object;
  readonly keys: ReadonlyArray<string> | undefined;
  readonly length: number;
  next: number;
}

/**
 * Walks a value of any depth without native recursion: nesting costs heap, never stack, so a depth
 * of 5,000 or 5,000,000 is an ordinary walk (R48). Stops at the first thing that is not JSON, or
 * when the visitor asks.
 */
export const walkJson = <Stop>(
  root: unknown,
  options: JsonWalkOptions,
  visitor: JsonVisitor<Stop>,
): Stop | JsonValueInvalid | undefined => {
  const frames: Array<Frame> = [];
  // Only the containers on the way from the root: the same object twice side by side is no cycle.
  const ancestors = new Set<object>();

  const segments = (): Array<string | number> =>
    frames.map((frame) =>
      frame.keys === undefined ? frame.next - 1 : (frame.keys[frame.next - 1] ?? ""),
    );
  const at = (): string => jsonPath(segments());
  const invalid = (found: string): JsonValueInvalid => new JsonValueInvalid({ path: at(), found });

  const visit = (raw: unknown): Stop | JsonValueInvalid | undefined => {
    const value = options.callToJson ? standIn(raw) : raw;
    if (value instanceof Unreadable) return invalid("a value whose toJSON method throws");
    if (value === null || typeof value === "string" || typeof value === "boolean")
      return visitor.scalar(value, at);
    if (typeof value === "number") {
      return Number.isFinite(value) ? visitor.scalar(value, at) : invalid(`the number ${value}`);
    }
    if (typeof value !== "object") return invalid(nounOf(value));
    const shape = shapeOf(value, options);
    if (typeof shape === "string") return invalid(shape);
    if (ancestors.has(value))
      return invalid("a reference back to a value that contains it (a cycle)");
    const stop = visitor.open(shape.keys === undefined ? "array" : "object", shape.length, at);
    if (stop !== undefined) return stop;
    ancestors.add(value);
    frames.push({ container: value, keys: shape.keys, length: shape.length, next: 0 });
    return undefined;
  };

  const stoppedAtRoot = visit(root);
  if (stoppedAtRoot !== undefined) return stoppedAtRoot;

  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.next >= frame.length) {
      visitor.close(frame.keys === undefined ? "array" : "object");
      ancestors.delete(frame.container);
      frames.pop();
      continue;
    }
    const key = frame.keys === undefined ? frame.next : (frame.keys[frame.next] ?? "");
    frame.next++;
    if (typeof key === "string") {
      const stop = visitor.key(key, at);
      if (stop !== undefined) return stop;
    }
    const child = readProperty(frame.container, key);
    const stop =
      child instanceof Unreadable
        ? invalid("a property that throws when it is read")
        : visit(child);
    if (stop !== undefined) return stop;
  }
  return undefined;
};

/** Stands for a value that could not be read: a getter, a proxy or a `toJSON` that threw. */
class Unreadable {}
const unreadable = new Unreadable();

const readProperty = (container: object, key: string | number): unknown => {
  try {
    return Reflect.get(container, key);
  } catch {
    return unreadable;
  }
};

const standIn = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  const toJson = readProperty(value, "toJSON");
  if (toJson instanceof Unreadable) return unreadable;
  if (typeof toJson !== "function") return value;
  try {
    return Reflect.apply(toJson, value, []);
  } catch {
    return unreadable;
  }
};

/** The keys of a plain object, the length of an array, or the noun phrase that refuses anything else. */
const shapeOf = (
  value: object,
  options: JsonWalkOptions,
): { readonly keys: ReadonlyArray<string> | undefined; readonly length: number } | string => {
  try {
    if (Array.isArray(value)) return { keys: undefined, length: value.length };
    const prototype: unknown = Object.getPrototypeOf(value);
    // A root prototype of any realm makes a plain object; a class always stands below one.
    const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
    if (!plain) return "an instance of a class, not plain data";
    let keys = Object.keys(value);
    if (options.omitUndefined) keys = keys.filter((key) => readProperty(value, key) !== undefined);
    if (options.sortKeys) keys.sort();
    return { keys, length: keys.length };
  } catch {
    return "an object that cannot be read";
  }
};

const nounOf = (value: unknown): string => {
  switch (typeof value) {
    case "undefined":
      return "undefined";
    case "bigint":
      return "a bigint";
    case "symbol":
      return "a symbol";
    default:
      return "a function";
  }
};
