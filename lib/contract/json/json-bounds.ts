import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { Json } from "./json.ts";
import { JsonValueInvalid, walkJson } from "./json-walk.ts";
import { jsonStringByteLength } from "./utf8.ts";

/** Limits of one JSON value (PG-06). */
export interface JsonLimits {
  /** Deepest nesting of containers: `[[1]]` has depth 2. */
  readonly depth: number;
  /** Most elements of one array, or keys of one object. */
  readonly collection: number;
  /** Most values altogether, containers included. */
  readonly nodes: number;
  /** Most UTF-8 bytes of the canonical text, escapes included. */
  readonly bytes: number;
}

/** Depth 64, 4,096 entries per collection, 65,536 values, 1 MiB of canonical text (PG-06). */
export const defaultJsonLimits: JsonLimits = {
  depth: 64,
  collection: 4_096,
  nodes: 65_536,
  bytes: 1_048_576,
};

/** A JSON value that is larger than what may be stored or sent (PG-06, R48, R49). */
export class JsonBoundExceeded extends Schema.TaggedError<JsonBoundExceeded>()(
  "JsonBoundExceeded",
  {
    limit: Schema.Literals(["depth", "collection", "nodes", "bytes"]),
    /** The most that is allowed. */
    max: Schema.Number,
    /** What was seen when the check stopped; the whole value may hold more. */
    seen: Schema.Number,
    /** Where the limit was passed, bounded. */
    path: Schema.String,
  },
) {
  override get message(): string {
    return `The JSON value passes its ${limitNames[this.limit]} at ${this.path}: ${this.max} allowed, at least ${this.seen} seen.`;
  }
}

const limitNames: Record<keyof JsonLimits, string> = {
  depth: "nesting limit",
  collection: "limit of entries in one collection",
  nodes: "limit of values",
  bytes: "size limit in UTF-8 bytes",
};

/**
 * Checks that a value is plain JSON data and within limits, and stops at the first excess: a hostile
 * value costs no more than the limits allow, and no depth can overflow the stack.
 *
 * @param value anything; what is not plain JSON data is refused
 * @param limits defaults to {@link defaultJsonLimits}
 * @returns the same value, typed, or `JsonBoundExceeded` / `JsonValueInvalid` with the path
 */
export const checkJsonBounds = (
  value: unknown,
  limits: JsonLimits = defaultJsonLimits,
): Result.Result<Json, JsonBoundExceeded | JsonValueInvalid> => {
  let depth = 0;
  let nodes = 0;
  let bytes = 0;
  const exceeded = (limit: keyof JsonLimits, seen: number, at: () => string): JsonBoundExceeded =>
    new JsonBoundExceeded({ limit, max: limits[limit], seen, path: at() });
  const count = (size: number, at: () => string): JsonBoundExceeded | undefined => {
    bytes += size;
    return bytes > limits.bytes ? exceeded("bytes", bytes, at) : undefined;
  };
  const countNode = (at: () => string): JsonBoundExceeded | undefined => {
    nodes++;
    return nodes > limits.nodes ? exceeded("nodes", nodes, at) : undefined;
  };
  const stop = walkJson<JsonBoundExceeded>(
    value,
    { sortKeys: false, callToJson: false, omitUndefined: false },
    {
      open: (_kind, size, at) => {
        depth++;
        if (depth > limits.depth) return exceeded("depth", depth, at);
        if (size > limits.collection) return exceeded("collection", size, at);
        // The brackets and the commas between the entries.
        return countNode(at) ?? count(2 + Math.max(0, size - 1), at);
      },
      key: (name, at) => count(stringSize(name, limits.bytes) + 1, at),
      scalar: (scalar, at) => countNode(at) ?? count(scalarSize(scalar, limits.bytes), at),
      close: () => {
        depth--;
      },
    },
  );
  // The walk reached the end: every value in it is plain JSON data.
  return stop === undefined ? Result.succeed(value as Json) : Result.fail(stop);
};

/**
 * The answer for short texts without counting: `length` UTF-16 units of JSON text hold no more values and no
 * more entries than units, and the canonical text has at most six bytes for each (a lone surrogate's escape).
 * False says nothing; then {@link checkJsonBounds} counts.
 *
 * @param value plain JSON data, written in that many units
 */
export const isSmallJson = (
  value: unknown,
  length: number,
  limits: JsonLimits = defaultJsonLimits,
): boolean =>
  length <= limits.collection &&
  length <= limits.nodes &&
  length * 6 <= limits.bytes &&
  nestsWithin(value, Math.min(limits.depth, deepestRecursion));

/** Native recursion is fine this deep. */
const deepestRecursion = 64;

/** Whether containers nest no deeper than this; looks no deeper. */
const nestsWithin = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  const held: ReadonlyArray<unknown> = Array.isArray(value) ? value : Object.values(value);
  return held.every((one) => nestsWithin(one, depth - 1));
};

/** Every code unit costs at least a byte, so a text longer than the limit needs no exact count. */
const stringSize = (text: string, maxBytes: number): number =>
  text.length > maxBytes ? text.length : jsonStringByteLength(text);

const scalarSize = (scalar: string | number | boolean | null, maxBytes: number): number => {
  if (typeof scalar === "string") return stringSize(scalar, maxBytes);
  return Object.is(scalar, -0) ? 2 : String(scalar).length;
};
