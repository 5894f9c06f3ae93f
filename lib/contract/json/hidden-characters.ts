/**
 * Characters that are not seen, or that change how their neighbours are seen (C054). One table, so that
 * every place that draws untrusted text names the same ones.
 */

/** Names of the single characters that people are tricked with most. */
const names: ReadonlyMap<number, string> = new Map([
  [0x00, "NUL"],
  [0x07, "BELL"],
  [0x08, "BACKSPACE"],
  [0x09, "TAB"],
  [0x0a, "LINE FEED"],
  [0x0d, "CARRIAGE RETURN"],
  [0x1b, "ESCAPE"],
  [0x7f, "DELETE"],
  [0x85, "NEXT LINE"],
  [0xad, "SOFT HYPHEN"],
  [0x34f, "COMBINING GRAPHEME JOINER"],
  [0x61c, "ARABIC LETTER MARK"],
  [0x115f, "HANGUL CHOSEONG FILLER"],
  [0x1160, "HANGUL JUNGSEONG FILLER"],
  [0x180e, "MONGOLIAN VOWEL SEPARATOR"],
  [0x200b, "ZERO WIDTH SPACE"],
  [0x200c, "ZERO WIDTH NON-JOINER"],
  [0x200d, "ZERO WIDTH JOINER"],
  [0x200e, "LEFT-TO-RIGHT MARK"],
  [0x200f, "RIGHT-TO-LEFT MARK"],
  [0x2028, "LINE SEPARATOR"],
  [0x2029, "PARAGRAPH SEPARATOR"],
  [0x202a, "LEFT-TO-RIGHT EMBEDDING"],
  [0x202b, "RIGHT-TO-LEFT EMBEDDING"],
  [0x202c, "POP DIRECTIONAL FORMATTING"],
  [0x202d, "LEFT-TO-RIGHT OVERRIDE"],
  [0x202e, "RIGHT-TO-LEFT OVERRIDE"],
  [0x2060, "WORD JOINER"],
  [0x2066, "LEFT-TO-RIGHT ISOLATE"],
  [0x2067, "RIGHT-TO-LEFT ISOLATE"],
  [0x2068, "FIRST STRONG ISOLATE"],
  [0x2069, "POP DIRECTIONAL ISOLATE"],
  [0x2800, "BRAILLE PATTERN BLANK"],
  [0x3164, "HANGUL FILLER"],
  [0xfeff, "BYTE ORDER MARK"],
  [0xffa0, "HALFWIDTH HANGUL FILLER"],
]);

interface HiddenRange {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** Every hidden character lies in one of these, in ascending order. */
const ranges: ReadonlyArray<HiddenRange> = [
  { from: 0x00, to: 0x1f, name: "CONTROL CHARACTER" },
  { from: 0x7f, to: 0x9f, name: "CONTROL CHARACTER" },
  { from: 0xad, to: 0xad, name: "SOFT HYPHEN" },
  { from: 0x34f, to: 0x34f, name: "INVISIBLE JOINER" },
  { from: 0x61c, to: 0x61c, name: "DIRECTION CONTROL" },
  { from: 0x115f, to: 0x1160, name: "INVISIBLE FILLER" },
  { from: 0x17b4, to: 0x17b5, name: "INVISIBLE VOWEL" },
  { from: 0x180b, to: 0x180f, name: "VARIATION SELECTOR" },
  { from: 0x200b, to: 0x200f, name: "ZERO WIDTH CHARACTER" },
  { from: 0x2028, to: 0x202e, name: "DIRECTION CONTROL" },
  { from: 0x2060, to: 0x206f, name: "INVISIBLE FORMAT CHARACTER" },
  { from: 0x2800, to: 0x2800, name: "INVISIBLE BLANK" },
  { from: 0x3164, to: 0x3164, name: "INVISIBLE FILLER" },
  { from: 0xd800, to: 0xdfff, name: "LONE SURROGATE" },
  { from: 0xfe00, to: 0xfe0f, name: "VARIATION SELECTOR" },
  { from: 0xfeff, to: 0xfeff, name: "BYTE ORDER MARK" },
  { from: 0xffa0, to: 0xffa0, name: "INVISIBLE FILLER" },
  { from: 0xfff0, to: 0xfffb, name: "INVISIBLE FORMAT CHARACTER" },
  { from: 0x1bca0, to: 0x1bca3, name: "INVISIBLE FORMAT CHARACTER" },
  { from: 0x1d173, to: 0x1d17a, name: "INVISIBLE FORMAT CHARACTER" },
  { from: 0xe0000, to: 0xe007f, name: "INVISIBLE TAG CHARACTER" },
  { from: 0xe0080, to: 0xe0fff, name: "VARIATION SELECTOR" },
];

/** The name of a hidden character, or undefined for one that is seen as it is. */
export const hiddenCharacterName = (codePoint: number): string | undefined => {
  const range = ranges.find(({ from, to }) => codePoint >= from && codePoint <= to);
  return range === undefined ? undefined : (names.get(codePoint) ?? range.name);
};

/** A visible escape of a character: `\u{202E}`, at least four digits. */
export const escapedCharacter = (codePoint: number): string =>
  `\\u{${codePoint.toString(16).toUpperCase().padStart(4, "0")}}`;
