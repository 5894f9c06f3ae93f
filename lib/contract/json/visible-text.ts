import { escapedCharacter, hiddenCharacterName } from "./hidden-characters.ts";
import { lookAlikeOffsets } from "./look-alikes.ts";

/** A character that was written as a visible escape. */
export interface HiddenCharacter {
  readonly codePoint: number;
  /** For example `RIGHT-TO-LEFT OVERRIDE`, or `LOOK-ALIKE LETTER` with the letter. */
  readonly name: string;
}

/** Untrusted text made safe to look at. */
export interface VisibleText {
  readonly text: string;
  /** What was escaped, once per character, in order of first appearance; at most 64. */
  readonly hidden: ReadonlyArray<HiddenCharacter>;
}

/** What a reader may be shown as it is. */
export interface VisibleTextOptions {
  /** Escape tabs and line feeds too, for a title or a table row. Default false. */
  readonly singleLine?: boolean;
}

const maxNamed = 64;

/** Printable ASCII, tabs and line feeds: nothing to look at closer. */
const plain = /^[\x20-\x7E\n\t]*$/;

/**
 * Writes every character that hides, reorders or imitates as a visible escape such as `\u{202E}`: bidi
 * controls, zero-width and tag characters, control characters, odd separators, lone surrogates, and
 * Cyrillic or Greek look-alikes inside an otherwise Latin word (C054). Emoji sequences and joiners that
 * Arabic and Indic scripts need stay whole. For display only: store and copy the true text.
 */
export const visibleText = (text: string, options: VisibleTextOptions = {}): VisibleText => {
  const singleLine = options.singleLine ?? false;
  if (plain.test(text) && !(singleLine && /[\n\t]/.test(text))) return { text, hidden: [] };
  const lookAlikes = lookAlikeOffsets(text);
  const hidden = new Map<number, string>();
  let visible = "";
  for (let index = 0; index < text.length;) {
    const codePoint = text.codePointAt(index) ?? 0;
    const width = codePoint > 0xffff ? 2 : 1;
    const name = lookAlikes.has(index)
      ? `LOOK-ALIKE LETTER ${String.fromCodePoint(codePoint)}`
      : nameIfHidden(text, index, width, codePoint, singleLine);
    if (name === undefined) visible += text.slice(index, index + width);
    else {
      visible += escapedCharacter(codePoint);
      if (hidden.size < maxNamed) hidden.set(codePoint, name);
    }
    index += width;
  }
  return {
    text: visible,
    hidden: Array.from(hidden, ([codePoint, name]) => ({ codePoint, name })),
  };
};

const nameIfHidden = (
  text: string,
  index: number,
  width: number,
  codePoint: number,
  singleLine: boolean,
): string | undefined => {
  if (!singleLine && (codePoint === 0x0a || codePoint === 0x09)) return undefined;
  const name = hiddenCharacterName(codePoint);
  if (name === undefined) return undefined;
  // Enough for an emoji with its selector and skin tone; more would cost the square of a hostile text.
  const before = text.slice(Math.max(0, index - 5), index);
  const after = text.slice(index + width, index + width + 2);
  return belongsThere(codePoint, before, after) ? undefined : name;
};

const endsInEmoji =
  /\p{Extended_Pictographic}\uFE0F?[\u{1F3FB}-\u{1F3FF}]?$|[\u{1F3FB}-\u{1F3FF}]$/u;
const endsInKeycapBase = /[0-9#*]$/;
const startsWithEmoji = /^\p{Extended_Pictographic}/u;
const joiningLetter =
  "[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Mongolian}]";
const endsInJoiningLetter = new RegExp(`${joiningLetter}$`, "u");
const startsWithJoiningLetter = new RegExp(`^${joiningLetter}`, "u");

/** Joiners and selectors that are part of ordinary writing: between emoji, or between joining letters. */
const belongsThere = (codePoint: number, before: string, after: string): boolean => {
  if (codePoint === 0xfe0f || codePoint === 0xfe0e) {
    return (
      endsInEmoji.test(before) || (endsInKeycapBase.test(before) && after.startsWith("\u20E3"))
    );
  }
  if (codePoint === 0x200d && endsInEmoji.test(before) && startsWithEmoji.test(after)) return true;
  if (codePoint === 0x200c || codePoint === 0x200d) {
    return endsInJoiningLetter.test(before) && startsWithJoiningLetter.test(after);
  }
  return false;
};

/**
 * Makes a text fit a Postgres text column and valid UTF-8: NUL and lone surrogates become visible
 * escapes (PG-06, R45). Every other character stays as it is.
 */
export const wellFormedText = (text: string): string =>
  needsRepair.test(text)
    ? text.replace(/[\0\ud800-\udfff]/gu, (character) =>
        escapedCharacter(character.codePointAt(0) ?? 0),
      )
    : text;

/** With the `u` flag a surrogate class matches lone ones only: a pair is one character outside it. */
const needsRepair = /[\0\ud800-\udfff]/u;
