import * as Result from "effect/Result";
import type { Json } from "./json.ts";
import { type JsonValueInvalid, walkJson } from "./json-walk.ts";
import { shallowCopy } from "./shallow-json.ts";

/**
 * A fresh, plain copy of an encoded value as JSON data, detached from whatever object a handler still
 * holds. A property whose value is `undefined` is left out, because that is how an optional field that
 * is not there looks in JavaScript and absence is how JSON says it; anything else that JSON cannot
 * hold is refused (T-06). A key `__proto__` stays an ordinary own property of the copy.
 *
 * @returns the copy, or `JsonValueInvalid` with the path of the first value that is not JSON
 */
export const toJson = (value: unknown): Result.Result<Json, JsonValueInvalid> => {
  const copy = shallowCopy(value);
  return copy === undefined ? walkCopy(value) : Result.succeed(copy);
};

const walkCopy = (value: unknown): Result.Result<Json, JsonValueInvalid> => {
  const open: Array<{ readonly container: Array<Json> | Record<string, Json>; key: string }> = [];
  let root: Json = null;
  const place = (child: Json): void => {
    const parent = open.at(-1);
    if (parent === undefined) root = child;
    else if (Array.isArray(parent.container)) parent.container.push(child);
    else defineOwn(parent.container, parent.key, child);
  };
  const invalid = walkJson<never>(
    value,
    { sortKeys: false, callToJson: true, omitUndefined: true },
    {
      open: (kind) => {
        const container: Array<Json> | Record<string, Json> = kind === "array" ? [] : {};
        place(container);
        open.push({ container, key: "" });
        return undefined;
      },
      key: (name) => {
        const parent = open.at(-1);
        if (parent !== undefined) parent.key = name;
        return undefined;
      },
      scalar: (scalar) => {
        place(scalar);
        return undefined;
      },
      close: () => {
        open.pop();
      },
    },
  );
  return invalid === undefined ? Result.succeed(root) : Result.fail(invalid);
};

/** Assignment would call the `__proto__` setter; a definition never does. */
const defineOwn = (target: Record<string, Json>, key: string, value: Json): void => {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    target[key] = value;
  }
};
