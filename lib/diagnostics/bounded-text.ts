import { utf8ByteLength } from "#lib/contract/json/utf8.ts";

/** How every shortened text ends (`DX-04`). */
export const truncationMarker = "[truncated]";

/**
 * Shortens a text to a number of UTF-8 bytes, marker included; a text that fits
 * stays as it is. Never splits a character, and never reads more of a hostile
 * text than it keeps.
 *
 * @param maxBytes at least the 11 bytes of the marker
 */
export const boundedText = (text: string, maxBytes: number): string => {
  if (text.length <= maxBytes && utf8ByteLength(text) <= maxBytes) return text;
  return `${text.slice(0, fittingLength(text, maxBytes - truncationMarker.length))}${truncationMarker}`;
};

/** UTF-16 units of the longest run of whole characters whose UTF-8 size fits. */
const fittingLength = (text: string, maxBytes: number): number => {
  let bytes = 0;
  let index = 0;
  while (index < text.length) {
    const codePoint = text.codePointAt(index) ?? 0;
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) return index;
    index += codePoint > 0xffff ? 2 : 1;
  }
  return index;
};
