/**
 * Where a walker stands inside a value, written for a person: `$.items[3].name`. Keys are hostile
 * text, so a key that is no plain name is quoted, and the whole path is bounded.
 */

/** Longest path text, in UTF-16 code units; a longer one keeps its start and its end. */
const maxPathLength = 240;

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

const segmentText = (segment: string | number): string => {
  if (typeof segment === "number") return `[${segment}]`;
  // A lone surrogate or a control character is written as its JSON escape; 48 units name a key well enough.
  const shown = segment.length > 48 ? `${segment.slice(0, 48)}…` : segment;
  return plainName.test(shown) ? `.${shown}` : `[${JSON.stringify(shown)}]`;
};

/**
 * The path of the given keys and indices, from the root outwards.
 *
 * @param segments object keys (text) and array indices (numbers)
 */
export const jsonPath = (segments: ReadonlyArray<string | number>): string => {
  if (segments.length > 24) {
    const start = segments.slice(0, 16).map(segmentText).join("");
    const end = segments.slice(-4).map(segmentText).join("");
    return bounded(`$${start}…${end}`);
  }
  return bounded(`$${segments.map(segmentText).join("")}`);
};

const bounded = (text: string): string =>
  text.length <= maxPathLength ? text : `${text.slice(0, maxPathLength - 61)}…${text.slice(-60)}`;
