/**
 * BM25 as the textbook has it (k1 = 1.5, b = 0.75), over name and description of a tool as one text, words split
 * at everything that is no letter or digit: what the ranked search has to beat.
 */
import * as Effect from "effect/Effect";
import type * as ToolDiscovery from "#lib/tool-discovery.ts";

const k1 = 1.5;
const b = 0.75;

const wordsOf = (text: string): ReadonlyArray<string> =>
  text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

interface Index {
  readonly ids: ReadonlyArray<string>;
  readonly lengths: ReadonlyArray<number>;
  readonly meanLength: number;
  /** How often each word occurs in which document. */
  readonly postings: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

const build = (catalogue: ReadonlyArray<ToolDiscovery.Descriptor>): Index => {
  const postings = new Map<string, Map<number, number>>();
  const lengths = catalogue.map(({ description, name }, document) => {
    const words = wordsOf(`${name} ${description ?? ""}`);
    for (const word of words) {
      const posting = postings.get(word) ?? new Map<number, number>();
      posting.set(document, (posting.get(document) ?? 0) + 1);
      postings.set(word, posting);
    }
    return words.length;
  });
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return {
    ids: catalogue.map(({ id }) => id),
    lengths,
    meanLength: total / Math.max(1, catalogue.length),
    postings,
  };
};

const rank = (index: Index, query: string, limit: number): ReadonlyArray<string> => {
  const scores = new Map<number, number>();
  for (const word of wordsOf(query)) {
    const posting = index.postings.get(word) ?? new Map<number, number>();
    const rarity = Math.log(1 + (index.ids.length - posting.size + 0.5) / (posting.size + 0.5));
    for (const [document, count] of posting) {
      const length = (index.lengths[document] ?? 0) / index.meanLength;
      const score = (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + b * length));
      scores.set(document, (scores.get(document) ?? 0) + score);
    }
  }
  return [...scores]
    .toSorted(([left, leftScore], [right, rightScore]) => rightScore - leftScore || left - right)
    .slice(0, limit)
    .flatMap(([document]) => index.ids[document] ?? []);
};

export const plainBm25 = (): ToolDiscovery.Search<never, never> => {
  const indexes = new WeakMap<ReadonlyArray<ToolDiscovery.Descriptor>, Index>();
  return (request, catalogue) =>
    Effect.sync(() => {
      const index = indexes.get(catalogue) ?? build(catalogue);
      indexes.set(catalogue, index);
      return rank(index, request.query, 64);
    });
};
