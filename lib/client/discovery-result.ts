/**
 * A stored discovery call as people read it: what was asked, what was found, what
 * became callable, and how near the result is to its bound (OP-03). Pure; whatever
 * of the stored text is not what discovery writes is left out, never guessed.
 */
import type { Json } from "#lib/contract/json/json.ts";
import type { ToolCallView } from "#lib/contract/run-views.ts";

export interface DiscoveryMatch {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly description: string | undefined;
}

export interface DiscoveryReading {
  readonly query: string;
  readonly namespace: string | undefined;
  /** Undefined where the result was cut for the model, so that its matches are not all there. */
  readonly matches: ReadonlyArray<DiscoveryMatch> | undefined;
  readonly notice: string | undefined;
  /** Tools that became callable on the next turn. */
  readonly activated: ReadonlyArray<string>;
  /** UTF-8 bytes of the whole result, before any bound of the run. */
  readonly bytes: number;
}

type Fields = { readonly [key: string]: Json };

const fieldsOf = (value: Json | null): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? // An object that is no array is a record of JSON.
      (value as Fields)
    : undefined;

const textOf = (fields: Fields | undefined, key: string): string | undefined => {
  const value = fields !== undefined && Object.hasOwn(fields, key) ? fields[key] : undefined;
  return typeof value === "string" ? value : undefined;
};

const matchesOf = (result: Fields | undefined): ReadonlyArray<DiscoveryMatch> | undefined => {
  const matches = result?.["matches"];
  if (!Array.isArray(matches)) return undefined;
  return matches.flatMap((match) => {
    const fields = fieldsOf(match);
    const name = textOf(fields, "name");
    return name === undefined
      ? []
      : [
          {
            name,
            namespace: textOf(fields, "namespace"),
            description: textOf(fields, "description"),
          },
        ];
  });
};

/** Undefined for a call that selects nothing: not a discovery call, or not settled, or failed. */
export const readDiscovery = (call: ToolCallView): DiscoveryReading | undefined => {
  if (call.selection === null || call.originalBytes === null) return undefined;
  const asked = fieldsOf(call.effectiveParameters ?? call.parameters);
  const result = fieldsOf(call.result);
  return {
    query: textOf(asked, "query") ?? "",
    namespace: textOf(asked, "namespace"),
    matches: matchesOf(result),
    notice: textOf(result, "notice"),
    activated: call.selection,
    bytes: call.originalBytes,
  };
};
