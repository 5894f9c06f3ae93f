import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { isExactNumberText } from "./exact-number.ts";
import {
  checkJsonBounds,
  defaultJsonLimits,
  isSmallJson,
  JsonBoundExceeded,
  type JsonLimits,
} from "./json-bounds.ts";
import { jsonPath } from "./json-path.ts";
import type { Json } from "./json.ts";
import { utf8ByteLength } from "./utf8.ts";

/**
 * A text that is no JSON, or whose value would not be the value that was written (T-15, R36, R46).
 *
 * - `syntax`: not JSON; `offset` tells where, when it is known
 * - `prototype-key`: a key `__proto__`, or `prototype` inside `constructor`
 * - `duplicate-key`: a key twice in one object, so that two readers may see two values
 * - `inexact-number`: a number that a double changes, such as `9007199254740993` or `1e400`
 */
export class JsonTextInvalid extends Schema.TaggedError<JsonTextInvalid>()("JsonTextInvalid", {
  reason: Schema.Literals(["syntax", "prototype-key", "duplicate-key", "inexact-number"]),
  /** Where in the value, bounded; `$` when the text has no value. */
  path: Schema.String,
  /** UTF-16 offset in the text. The text itself is never repeated: it may hold a secret. */
  offset: Schema.optionalKey(Schema.Number),
}) {
  override get message(): string {
    const where =
      this.offset === undefined ? `at ${this.path}` : `at ${this.path} (character ${this.offset})`;
    return `The JSON text ${reasonTexts[this.reason]} ${where}.`;
  }
}

const reasonTexts: Record<JsonTextInvalid["reason"], string> = {
  syntax: "is not valid JSON",
  "prototype-key": "holds a key that could change an object's prototype",
  "duplicate-key": "holds the same key twice in one object",
  "inexact-number": "holds a number that would change when it is read; send it as a string",
};

/**
 * Parses JSON text that nobody vouches for. The size is checked before anything is parsed, then the
 * syntax, then every key and number against what a JavaScript reader would silently change, then the
 * limits. A leading byte order mark is skipped. `-0` is kept as negative zero.
 *
 * @param limits defaults to {@link defaultJsonLimits}; its `bytes` also bound the text
 */
export const parseJson = (
  text: string,
  limits: JsonLimits = defaultJsonLimits,
): Result.Result<Json, JsonTextInvalid | JsonBoundExceeded> => {
  const size = text.length > limits.bytes ? text.length : utf8ByteLength(text);
  if (size > limits.bytes) {
    return Result.fail(
      new JsonBoundExceeded({ limit: "bytes", max: limits.bytes, seen: size, path: "$" }),
    );
  }
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    return Result.fail(syntaxError(error, source.length));
  }
  const isSmall = isSmallJson(value, source.length, limits);
  if (isSmall && isPlainlyWritten(source, value)) return Result.succeed(value);
  const fault = findFault(source);
  if (fault !== undefined) return Result.fail(fault);
  if (isSmall) return Result.succeed(value as Json); // JSON.parse gives plain data only
  const bounded = checkJsonBounds(value, limits);
  if (Result.isSuccess(bounded)) return Result.succeed(bounded.success);
  // JSON.parse gives plain data only, so the other failure cannot be met here.
  return bounded.failure._tag === "JsonBoundExceeded"
    ? Result.fail(bounded.failure)
    : Result.fail(new JsonTextInvalid({ reason: "syntax", path: bounded.failure.path }));
};

/**
 * Whether the text is, letter by letter, what `JSON.stringify` writes for its value. Then it names no key twice,
 * since the first would be gone, its numbers are in their exact form, and no escape hides a key; keys that reach
 * prototypes stand in it as they are. Models that write no white space write nearly all arguments so, and writing
 * them again costs a fraction of reading their tokens.
 */
const isPlainlyWritten = (source: string, value: unknown): value is Json =>
  JSON.stringify(value) === source &&
  !source.includes('"__proto__"') &&
  !source.includes('"constructor"');

/** Keeps the position of V8's message and drops the rest, which quotes the text. */
const syntaxError = (error: unknown, length: number): JsonTextInvalid => {
  const message = error instanceof Error ? error.message : "";
  const position = /at position (\d+)/.exec(message)?.[1];
  const offset =
    position === undefined
      ? message.includes("end of JSON")
        ? length
        : undefined
      : Number(position);
  return new JsonTextInvalid({
    reason: "syntax",
    path: "$",
    ...(offset === undefined ? {} : { offset }),
  });
};

interface OpenContainer {
  /** The keys seen so far; undefined for an array. */
  readonly keys: Set<string> | undefined;
  /** True for the object that is the value of a key `constructor`. */
  readonly ofConstructor: boolean;
  key: string;
  index: number;
}

const wordPattern = /[^\s,:\]}]+/y;

/** Reads tokens of text that is known to be valid JSON, and finds what `JSON.parse` lets pass. */
const findFault = (text: string): JsonTextInvalid | undefined => {
  const open: Array<OpenContainer> = [];
  let expectsKey = false;
  const fail = (reason: JsonTextInvalid["reason"], offset: number): JsonTextInvalid =>
    new JsonTextInvalid({
      reason,
      offset,
      path: jsonPath(
        open.map((container) => (container.keys === undefined ? container.index : container.key)),
      ),
    });

  let index = 0;
  while (index < text.length) {
    const character = text.charAt(index);
    const top = open.at(-1);
    if (character === "{" || character === "[") {
      const isObject = character === "{";
      const ofConstructor = isObject && top?.keys !== undefined && top.key === "constructor";
      open.push({ keys: isObject ? new Set() : undefined, ofConstructor, key: "", index: 0 });
      expectsKey = isObject;
      index++;
    } else if (character === "}" || character === "]") {
      open.pop();
      expectsKey = false;
      index++;
    } else if (character === ",") {
      if (top !== undefined) top.index++;
      expectsKey = top?.keys !== undefined;
      index++;
    } else if (character === '"') {
      const end = endOfString(text, index);
      if (expectsKey && top?.keys !== undefined) {
        top.key = stringValue(text.slice(index, end));
        const reason = keyFault(top);
        if (reason !== undefined) return fail(reason, index);
        top.keys.add(top.key);
        expectsKey = false;
      }
      index = end;
    } else if (character === "-" || (character >= "0" && character <= "9")) {
      wordPattern.lastIndex = index;
      const word = wordPattern.exec(text)?.[0] ?? character;
      if (!isExactNumberText(word)) return fail("inexact-number", index);
      index += word.length;
    } else index++;
  }
  return undefined;
};

const keyFault = (container: OpenContainer): JsonTextInvalid["reason"] | undefined => {
  if (container.key === "__proto__" || (container.ofConstructor && container.key === "prototype"))
    return "prototype-key";
  return container.keys?.has(container.key) ? "duplicate-key" : undefined;
};

const endOfString = (text: string, start: number): number => {
  let index = start + 1;
  while (index < text.length && text.charCodeAt(index) !== 0x22)
    index += text.charCodeAt(index) === 0x5c ? 2 : 1;
  return index + 1;
};

/** The text of a quoted string. Escapes are read, so that `"\u005f_proto__"` hides nothing. */
const stringValue = (quoted: string): string => {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  const value: unknown = JSON.parse(quoted);
  return typeof value === "string" ? value : quoted;
};
