import * as Effect from "effect/Effect";
import MiniSearch, { type Query, type SearchOptions } from "minisearch";
import { compareIds, parameterTextOf } from "./catalogue.ts";
import type { Descriptor } from "./descriptor.ts";
import { foldWord, relatedActions, splitWords } from "./search-terms.ts";

/** An index of one catalogue. */
export interface RankedIndex {
  /** Ids of the best tools for a text, best first; equal scores in id order. */
  readonly rank: (text: string, limit: number) => ReadonlyArray<string>;
}

interface IndexedTool {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly description: string;
  readonly parameters: string;
}

/** How much a match in each field counts. */
export interface FieldBoosts {
  readonly namespace: number;
  readonly name: number;
  readonly description: number;
  readonly parameters: number;
}

const fieldBoosts: FieldBoosts = { namespace: 3, name: 2, description: 1, parameters: 0.5 };

/**
 * BM25 over four fields. A namespace names the system a person thinks of ("GitHub"), so it weighs most,
 * then the name; parameters break ties. Word beginnings and mistyped words count a third, so that an exact
 * word always wins. Chosen on LiveMCPBench, see bench/discovery.
 */
const ranking: SearchOptions = {
  combineWith: "OR",
  prefix: (term) => term.length >= 4,
  weights: { fuzzy: 0.3, prefix: 0.3 },
  bm25: { k: 1.2, b: 0.7, d: 0 },
};

/** Shortest word that is taken for a mistyped one. */
const shortestMistyped = 5;
/** How much of a mistyped word may differ. */
const mistypedShare = 0.2;
/** What another verb for the same action counts. */
const relatedWeight = 0.2;
/** A word that occurs more often than this per tool says nothing about which tool is meant. */
const commonPerTool = 0.5;
/** Tools indexed before other fibers get their turn: a few milliseconds of work. */
const chunkSize = 200;

/**
 * Builds an index of the descriptors, in memory, without keeping other fibers waiting.
 *
 * @param boosts other ones than the chosen are for measurements
 */
export const buildRankedIndex = Effect.fnUntraced(function* (
  catalogue: ReadonlyArray<Descriptor>,
  boosts: FieldBoosts = fieldBoosts,
): Effect.fn.Return<RankedIndex> {
  // How often each folded word occurs in the whole catalogue.
  const occurrences = new Map<string, number>();
  const index = new MiniSearch<IndexedTool>({
    fields: ["namespace", "name", "description", "parameters"],
    tokenize: splitWords,
    processTerm: (word) => {
      const folded = foldWord(word);
      if (folded !== null) occurrences.set(folded, (occurrences.get(folded) ?? 0) + 1);
      return folded;
    },
    searchOptions: {
      ...ranking,
      boost: { ...boosts },
      // Only a word that no tool uses can be mistyped; looking for neighbours of every word costs most of a query.
      fuzzy: (term) =>
        term.length >= shortestMistyped && !occurrences.has(term) ? mistypedShare : false,
    },
  });
  for (let start = 0; start < catalogue.length; start += chunkSize) {
    index.addAll(catalogue.slice(start, start + chunkSize).map(indexedTool));
    yield* Effect.yieldNow;
  }
  const isTelling = (folded: string): boolean =>
    (occurrences.get(folded) ?? 0) <= Math.max(2, catalogue.length * commonPerTool);
  return {
    rank: (text, limit) => {
      const found = index.search(queryOf(text, isTelling));
      // The id decides between equal scores, so that an answer never depends on the order of insertion.
      found.sort(
        (left, right) => right.score - left.score || compareIds(String(left.id), String(right.id)),
      );
      return found.slice(0, limit).map((result) => String(result.id));
    },
  };
});

const indexedTool = (descriptor: Descriptor): IndexedTool => ({
  id: descriptor.id,
  name: `${descriptor.name} ${descriptor.method ?? ""}`,
  namespace: `${descriptor.namespace ?? ""} ${descriptor.namespaceDescription ?? ""}`,
  description: descriptor.description ?? "",
  parameters: parameterTextOf(descriptor),
});

/**
 * The telling words of a text as a query, and beside them, at a lower weight, other verbs for the same
 * actions. A word said twice counts twice.
 */
const queryOf = (text: string, isTelling: (folded: string) => boolean): Query => {
  const words = splitWords(text).flatMap((word) => foldWord(word) ?? []);
  const related = relatedActions(new Set(words)).filter(isTelling);
  const telling = words.filter(isTelling);
  // In a small catalogue every word may be common; then all of them are all there is.
  const main: Query = {
    ...foldedQuery,
    queries: [(telling.length > 0 ? telling : words).join(" ")],
  };
  if (related.length === 0) return main;
  const others: Query = {
    ...foldedQuery,
    queries: [related.join(" ")],
    prefix: false,
    fuzzy: false,
    boostTerm: () => relatedWeight,
  };
  return { combineWith: "OR", queries: [main, others] };
};

/** Words that are folded already are looked up as they are; folding twice would change some. */
const foldedQuery = {
  tokenize: (text: string) => text.split(" "),
  processTerm: (term: string) => term,
};
