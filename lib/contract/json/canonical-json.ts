import * as Result from "effect/Result";
import type { Json } from "./json.ts";
import { JsonValueInvalid, walkJson } from "./json-walk.ts";
import { shallowText } from "./shallow-json.ts";

export { JsonValueInvalid } from "./json-walk.ts";

/**
 * The one text of a JSON value: no white space, keys in the order of their UTF-16 code units, numbers
 * in their shortest exact form, strings escaped as `JSON.stringify` escapes them. Equal values have
 * equal text, and parsing the text gives an equal value, negative zero included (`-0`, where RFC 8785
 * writes `0` and so changes it; R46). NUL and lone surrogates become `\u` escapes, so the text is
 * valid UTF-8 and fits a text column (PG-06). Depth costs heap, never stack.
 *
 * An object with a `toJSON` method stands for what that method returns.
 *
 * @returns the text, or `JsonValueInvalid` with the path of the first value that is not JSON
 */
export const encodeCanonicalJson = (value: unknown): Result.Result<string, JsonValueInvalid> => {
  const text = shallowText(value);
  return text === undefined ? walkText(value) : Result.succeed(text);
};

const walkText = (value: unknown): Result.Result<string, JsonValueInvalid> => {
  const chunks: Array<string> = [];
  // True where the next value or key is the first of its container.
  let first = true;
  let afterKey = false;
  const separate = (): void => {
    if (!first && !afterKey) chunks.push(",");
    first = false;
    afterKey = false;
  };
  const invalid = walkJson<never>(
    value,
    { sortKeys: true, callToJson: true, omitUndefined: false },
    {
      open: (kind) => {
        separate();
        chunks.push(kind === "array" ? "[" : "{");
        first = true;
        return undefined;
      },
      key: (name) => {
        separate();
        chunks.push(JSON.stringify(name), ":");
        afterKey = true;
        return undefined;
      },
      scalar: (scalar) => {
        separate();
        chunks.push(scalarText(scalar));
        return undefined;
      },
      close: (kind) => {
        chunks.push(kind === "array" ? "]" : "}");
        first = false;
      },
    },
  );
  return invalid === undefined ? Result.succeed(chunks.join("")) : Result.fail(invalid);
};

const scalarText = (scalar: string | number | boolean | null): string =>
  Object.is(scalar, -0) ? "-0" : JSON.stringify(scalar);

/**
 * {@link encodeCanonicalJson} for a value that is known to be JSON. Throws `JsonValueInvalid` when the
 * type was wrong: that is a programming error, not an outcome.
 */
export const canonicalJson = (value: Json): string =>
  shallowText(value) ?? Result.getOrThrowWith(walkText(value), (error) => error);
