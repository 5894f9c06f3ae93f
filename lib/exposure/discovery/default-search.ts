import type { Descriptor, SearchRequest } from "./descriptor.ts";

/**
 * The search that discovery uses when the host gives none: every white-space-separated word of the query
 * must occur, ignoring case, in the name, description, method, namespace hint or namespace. In the
 * catalogue's own order, which is that of the ids, so the same query always gives the same answer (D-04).
 */
export const defaultSearch = (
  request: SearchRequest,
  catalogue: ReadonlyArray<Descriptor>,
): ReadonlyArray<string> => {
  const words = request.query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return catalogue.flatMap((descriptor) => {
    const text = searchableText(descriptor);
    return words.every((word) => text.includes(word)) ? [descriptor.id] : [];
  });
};

/** Lower-casing a whole catalogue costs more than searching it. */
const texts = new WeakMap<Descriptor, string>();

/** The line feed between the parts is white space, so no word can match across two of them. */
const searchableText = (descriptor: Descriptor): string => {
  const known = texts.get(descriptor);
  if (known !== undefined) return known;
  const text = [
    descriptor.name,
    descriptor.nativeToolName,
    descriptor.description,
    descriptor.method,
    descriptor.namespace,
    descriptor.namespaceDescription,
  ]
    .filter((part) => part !== undefined)
    .join("\n")
    .toLowerCase();
  texts.set(descriptor, text);
  return text;
};
