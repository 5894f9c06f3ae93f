import fc from "fast-check";
import type { Json } from "#lib/contract/json/json.ts";

/** Strings a hostile model could send: NUL, lone surrogates, bidi controls, prototype keys. */
export const hostileString = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "\u0000",
    "\ud800",
    "\udfff",
    "a\ud83dz",
    "__proto__",
    "constructor",
    "toJSON",
    "\u202e",
    '"\\\n',
    "",
  ),
  // Random code units: most pairs of surrogates are broken ones.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
);

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constant(-0),
);

const ownKeys = (entries: ReadonlyArray<readonly [string, Json]>): Json => {
  const target: Record<string, Json> = {};
  for (const [key, value] of entries) {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return target;
};

/** Any JSON value, `__proto__` as an own key included; `toJSON` only as a key of plain data. */
export const jsonValue: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    number,
    hostileString,
    fc.array(tie("json"), { maxLength: 6 }),
    fc.array(fc.tuple(hostileString, tie("json")), { maxLength: 6 }).map(ownKeys),
  ),
})).json;

/** A value nested so deep that native recursion would overflow the stack. */
export const nested = (depth: number, leaf: Json = 1): Json => {
  let value: Json = leaf;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { inner: value };
  return value;
};
