/**
 * Letters of another script that pass for Latin ones inside an otherwise Latin word or host name, as in
 * `аррle.com` with Cyrillic letters (C054). A word written in one script throughout is left alone.
 */

const word = /[\p{L}\p{M}\p{N}_.-]+/gu;
const latinLetter = /\p{Script=Latin}/u;
const cyrillicLetter = /\p{Script=Cyrillic}/u;

/** Greek letters drawn like Latin ones. Others, such as the μ of μs or a Δ, deceive nobody. */
const greekLookAlikes = new Set("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρυι");

/** The UTF-16 offsets of the look-alike letters of a text. */
export const lookAlikeOffsets = (text: string): ReadonlySet<number> => {
  const offsets = new Set<number>();
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(text)) return offsets;
  for (const match of text.matchAll(word)) {
    if (!latinLetter.test(match[0])) continue;
    let offset = match.index;
    for (const character of match[0]) {
      if (cyrillicLetter.test(character) || greekLookAlikes.has(character)) offsets.add(offset);
      offset += character.length;
    }
  }
  return offsets;
};
