import { utf8ByteLength } from "#lib/contract/json/utf8.ts";
import type { DiscoveryResult, Match } from "./descriptor.ts";
import { leftOutNotice, nothingFitsNotice } from "./notices.ts";

const bytesOf = (value: unknown): number => utf8ByteLength(JSON.stringify(value));

/** `{"toolNames":[],"matches":[]}` */
const emptyBytes = bytesOf({ toolNames: [], matches: [] });

const noticeBytes = (notice: string): number => bytesOf(notice) + ',"notice":'.length;

/**
 * Keeps complete matches, in rank order, that fit into a number of bytes together; a match that is too
 * large is skipped and later ones are still tried (D-08). Whatever is left out activates nothing. No
 * schema is ever cut.
 *
 * @param candidates documented matches in rank order, at most `maxResults` of them
 * @param maxResultBytes most UTF-8 bytes of the whole encoded result, notice and escapes included (D-07)
 */
export const packMatches = (
  candidates: ReadonlyArray<Match>,
  maxResultBytes: number,
): DiscoveryResult => {
  const all = keepFitting(candidates, maxResultBytes);
  if (all.matches.length === candidates.length) return all;
  // The widest number it can hold, because how many are left out is known only after packing.
  const reserved = noticeBytes(leftOutNotice(candidates.length));
  const some = keepFitting(candidates, maxResultBytes - reserved);
  return some.matches.length === 0
    ? { toolNames: [], matches: [], notice: nothingFitsNotice }
    : { ...some, notice: leftOutNotice(candidates.length - some.matches.length) };
};

const keepFitting = (
  candidates: ReadonlyArray<Match>,
  maxBytes: number,
): { readonly toolNames: ReadonlyArray<string>; readonly matches: ReadonlyArray<Match> } => {
  const toolNames = new Set<string>();
  const matches: Array<Match> = [];
  let bytes = emptyBytes;
  for (const match of candidates) {
    const name = match.nativeToolName;
    // A comma stands before every entry but the first of its list; an alias adds no second tool name.
    const cost =
      bytesOf(match) +
      (matches.length > 0 ? 1 : 0) +
      (toolNames.has(name) ? 0 : bytesOf(name) + (toolNames.size > 0 ? 1 : 0));
    if (bytes + cost > maxBytes) continue;
    bytes += cost;
    matches.push(match);
    toolNames.add(name);
  }
  return { toolNames: Array.from(toolNames), matches };
};
