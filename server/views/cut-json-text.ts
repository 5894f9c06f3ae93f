/**
 * Cuts long values out of JSON text before anything parses it. A record with an argument of 20 MB takes half
 * a second to parse and write again, only to show a value that is cut; to find where that value ends takes a
 * look at each byte. This knows no more of JSON than strings, brackets and commas: whether the rest is JSON,
 * and what it says, is for the parser that reads it.
 */
import { Buffer } from "node:buffer";
import { cutHeadLength, cutOf } from "#lib/durable/record-events.ts";

/** Where values may be cut: by the keys that lead to them, `*` for each element of an array. */
export type CutPlaces = "cut" | { readonly [key: string]: CutPlaces };

/** A value that was cut. */
export interface CutSpan {
  /** The keys and indexes that lead to it. */
  readonly path: ReadonlyArray<string | number>;
  /** Its first byte, and the one behind its last. */
  readonly from: number;
  readonly to: number;
}

export interface CutText {
  readonly text: string;
  readonly cuts: ReadonlyArray<CutSpan>;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** A string that ends within so many bytes is not worth the search that a longer one is found by. */
const nearBytes = 16;

/** UTF-8 bytes that certainly hold the beginning that is shown: none of its characters has more than three for each unit. */
const headBytes = 3 * cutHeadLength + 4;

/** Of the string that begins at `from`: the place behind it. */
const endOfString = (bytes: Buffer, from: number): number => {
  const near = Math.min(from + nearBytes, bytes.length);
  let at = from + 1;
  for (; at < near; at++) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at += 1;
  }
  // Five times as fast as looking at each byte. `at` may stand behind an escape, never within one.
  for (let found = at - 1; ;) {
    found = bytes.indexOf(quote, found + 1);
    if (found === -1) return bytes.length;
    let escapes = 0;
    while (found - escapes > at && bytes[found - escapes - 1] === backslash) escapes += 1;
    if (escapes % 2 === 0) return found + 1;
  }
};

/** Of the value that begins at `from`: the place behind it. Depth costs nothing. */
const endOfValue = (bytes: Buffer, from: number): number => {
  let depth = 0;
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfString(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === openObject || byte === openArray) depth += 1;
    else if (byte === closeObject || byte === closeArray) {
      // The end of what holds a number or a word.
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (byte === comma && depth === 0) return at;
    at += 1;
  }
  return bytes.length;
};

const findCuts = (bytes: Buffer, places: CutPlaces, most: number): ReadonlyArray<CutSpan> => {
  const cuts: Array<CutSpan> = [];
  const path: Array<string | number> = [];

  /** What stands behind the value at `from`. Recursion goes no deeper than the places do. */
  const walk = (from: number, place: CutPlaces | undefined): number => {
    if (place === undefined) return endOfValue(bytes, from);
    if (place === "cut") {
      const to = endOfValue(bytes, from);
      if (to - from > most) cuts.push({ path: [...path], from, to });
      return to;
    }
    const opening = bytes[from];
    if (opening !== openObject && opening !== openArray) return endOfValue(bytes, from);
    let at = from + 1;
    for (let index = 0; at < bytes.length; index++) {
      if (bytes[at] === closeObject || bytes[at] === closeArray) return at + 1;
      if (bytes[at] === comma) at += 1;
      if (opening === openArray) path.push(index);
      else {
        const behind = endOfString(bytes, at);
        // None of the places has a key that is written with an escape.
        path.push(bytes.toString("latin1", at + 1, behind - 1));
        at = bytes[behind] === colon ? behind + 1 : bytes.length;
      }
      const key = opening === openArray ? "*" : String(path.at(-1));
      at = walk(at, Object.hasOwn(place, key) ? place[key] : undefined);
      path.pop();
    }
    return at;
  };

  walk(0, places);
  return cuts;
};

/**
 * The canonical JSON text `bytes`, with each value at one of the places that has more than `most` bytes
 * replaced by a `CutValue`: its size in bytes and its beginning, both of the text as it stands. Text that is
 * not JSON stays text that is not JSON, outside what was cut.
 */
export const cutJsonText = (bytes: Buffer, places: CutPlaces, most: number): CutText => {
  const cuts = findCuts(bytes, places, most);
  const parts: Array<string> = [];
  let at = 0;
  for (const { from, to } of cuts) {
    const beginning = bytes.toString("utf8", from, Math.min(to, from + headBytes));
    parts.push(bytes.toString("utf8", at, from), JSON.stringify(cutOf(beginning, to - from)));
    at = to;
  }
  parts.push(bytes.toString("utf8", at));
  return { text: parts.join(""), cuts };
};
