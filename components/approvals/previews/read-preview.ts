/**
 * How a reviewed preview reads arguments: strictly. A preview that met arguments it was not written for would
 * show a person half of what runs, so it says that it cannot read them instead.
 */
import type { ExactJson } from "#lib/client/exact-json.ts";

/** One line of a preview; every value is text that a model may have written. */
export interface PreviewFact {
  readonly name: string;
  readonly value: string;
  /** What the act is about: drawn larger. At most one. */
  readonly main?: true;
}

export type Preview =
  | { readonly kind: "facts"; readonly facts: ReadonlyArray<PreviewFact> }
  /** Why these arguments cannot be shown in short. */
  | { readonly kind: "unreadable"; readonly why: string };

/** A preview of one tool's arguments, in the tool's own encoding. Pure. */
export type ReadPreview = (parameters: ExactJson) => Preview;

const unreadable = (why: string): Preview => ({ kind: "unreadable", why });

/** A text that a person would take for something else, or not see at all, is not shortened to a line. */
const mostCharacters = 2_000;

/**
 * Reads an object whose members are exactly these texts, no more and no fewer, each once; anything else is
 * unreadable, and so is what `show` does not accept.
 */
export const textsPreview =
  <const Name extends string>(
    names: ReadonlyArray<Name>,
    show: (texts: Readonly<Record<Name, string>>) => ReadonlyArray<PreviewFact> | string,
  ): ReadPreview =>
  (parameters) => {
    if (parameters.kind !== "object") return unreadable("they are no object");
    const known = new Set<string>(names);
    const texts = new Map<string, string>();
    for (const [name, value] of parameters.members) {
      if (!known.has(name)) return unreadable(`${JSON.stringify(name)} is not known to it`);
      if (texts.has(name)) return unreadable(`${JSON.stringify(name)} stands there twice`);
      if (value.kind !== "string") return unreadable(`${JSON.stringify(name)} is no text`);
      if (value.value.length > mostCharacters)
        return unreadable(`${JSON.stringify(name)} is too long to be shown in short`);
      texts.set(name, value.value);
    }
    const missing = names.find((name) => !texts.has(name));
    if (missing !== undefined) return unreadable(`${JSON.stringify(missing)} is missing`);
    // Every name is there, as the line above has made sure.
    const facts = show(Object.fromEntries(texts) as Record<Name, string>);
    return typeof facts === "string" ? unreadable(facts) : { kind: "facts", facts };
  };
