/**
 * Digests of arguments. A call's arguments are digested when it is declared, and held
 * against that digest whenever its turn is looked at again; while they are the very value
 * that this process digested, there is nothing new to find. What was read from a store is
 * a new value.
 */
import { Digest } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";

const known = new WeakMap<object, Digest>();

/** The digest of arguments; the same value again costs a look. */
export const digestOfArguments = (json: Json): Digest => {
  if (typeof json !== "object" || json === null) return Digest.make(digestOf(json));
  const before = known.get(json);
  if (before !== undefined) return before;
  const digest = Digest.make(digestOf(json));
  known.set(json, digest);
  return digest;
};
