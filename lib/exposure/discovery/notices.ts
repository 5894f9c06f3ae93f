/**
 * What a discovery result tells the model about searching better (D-09). Each is at most 192 characters of
 * ASCII, so that it fits beside two empty lists in the smallest result of 256 bytes.
 */

/** Nothing matched. */
export const noMatchNotice = (hasNamespace: boolean): string =>
  hasNamespace
    ? "No tool in this namespace matches every word. Use fewer or more general words, or leave out the namespace."
    : "No tool matches every word of the query. Use fewer or more general words, one action and one object at most.";

/** Some matches were left out for size. */
export const leftOutNotice = (leftOut: number): string =>
  `${leftOut} of the matches did not fit and are not callable. Search again with more specific words or one namespace.`;

/** Not one match fits. */
export const nothingFitsNotice =
  "No match fits into the result. Search with more specific words or one namespace; if a single tool is too large, ask the host to raise maxResultBytes.";
