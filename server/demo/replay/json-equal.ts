/** Equality of JSON values: order of keys aside, numbers by value. */
import { Predicate } from "effect";

export const jsonEqual = (left: unknown, right: unknown): boolean => {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return (
      left.length === right.length && left.every((value, index) => jsonEqual(value, right[index]))
    );
  }
  if (Array.isArray(left) || Array.isArray(right)) return false;
  if (!Predicate.isObject(left) || !Predicate.isObject(right)) return false;
  const before = Object.entries(left);
  return (
    before.length === Object.keys(right).length &&
    before.every(
      ([key, value]) => Object.hasOwn(right, key) && jsonEqual(value, Reflect.get(right, key)),
    )
  );
};

const parse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

/** Two results as texts: as JSON values where both are JSON, as text otherwise. */
export const resultsEqual = (left: string, right: string): boolean => {
  const [first, second] = [parse(left), parse(right)];
  return first !== undefined && second !== undefined
    ? jsonEqual(first.value, second.value)
    : left === right;
};

/** A tool's encoded result as the text that a data set records. */
export const resultText = (encoded: unknown): string =>
  typeof encoded === "string" ? encoded : JSON.stringify(encoded ?? null);
