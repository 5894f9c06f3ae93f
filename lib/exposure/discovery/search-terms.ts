/**
 * How ranked search reads text: names are split at case and punctuation, words are folded to a common
 * form, and words that say nothing about a tool are dropped.
 */

/** Words of a text, lower case: `getOrder_byID2` gives get, order, by, id2. Chinese, Japanese and Korean text gives pairs of characters. */
export const splitWords = (text: string): Array<string> => {
  const words = text
    .normalize("NFKC")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu);
  return (words ?? []).flatMap((word) => (unspaced.test(word) ? characterPairs(word) : [word]));
};

/** Scripts that write no space between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

const characterPairs = (word: string): Array<string> => {
  const characters = Array.from(word);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
};

const stopWords = new Set(
  "a an the of to in on for and or with by from at as is are be this that these those it its into about i me my you your we our all any using use used please can will would should which who what when where how there then than so do does done if not no s t".split(
    " ",
  ),
);

/**
 * The common form of a word, or null for one that says nothing. Plural and verb endings go; what is left
 * need not be a word, only the same for `creating`, `created` and `creates`.
 */
export const foldWord = (word: string): string | null => {
  if (stopWords.has(word)) return null;
  if (word.length <= 3) return word;
  // Twice, so that `ordering` meets `order`, which itself ends like `creator`.
  return withoutEnding(withoutEnding(withoutPlural(word)));
};

const withoutEnding = (word: string): string => {
  const root = /^(.{3,}?)(?:ing|ed|ation|ion|er|or|ment|ly|e)$/.exec(word)?.[1];
  if (root === undefined || !/[aeiouy]/.test(root)) return word;
  // stopped -> stopp -> stop, but not call -> cal.
  return /([^aeiouls])\1$/.test(root) ? root.slice(0, -1) : root;
};

const withoutPlural = (word: string): string => {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (/(?:xes|ches|shes|sses|zes)$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
};

/** Verbs with which tools of different authors name the same action. */
const sameActions = [
  "create make generate add",
  "get fetch retrieve read",
  "delete remove",
  "update edit modify change",
  "search find query lookup",
  "list show",
].map((group) => group.split(" ").map((word) => foldWord(word) ?? word));

/** Other folded verbs for the same action as some of these folded words, without the words themselves. */
export const relatedActions = (folded: ReadonlySet<string>): ReadonlyArray<string> => {
  const related = new Set<string>();
  for (const group of sameActions) {
    if (!group.some((word) => folded.has(word))) continue;
    for (const word of group) if (!folded.has(word)) related.add(word);
  }
  return Array.from(related);
};
