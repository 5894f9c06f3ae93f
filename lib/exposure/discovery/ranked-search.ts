import * as Effect from "effect/Effect";
import type { Descriptor, SearchRequest } from "./descriptor.ts";
import type { Search } from "./discover.ts";
import { buildRankedIndex, type RankedIndex } from "./ranked-index.ts";

/** More than any result can document (D-06). */
const maxRanked = 64;

/**
 * A search that ranks by relevance instead of demanding every word: for large toolkits, and for models that
 * ask in sentences. Splits names, folds word endings, tolerates small mistakes, knows common verbs for the
 * same action. The index lives in memory and is kept as long as the catalogue it was built for.
 *
 * ```ts
 * const discovery = ToolDiscovery.make({ search: ToolDiscovery.rankedSearch() })
 * ```
 */
export const rankedSearch = (): Search<never, never> => {
  const indexes = new WeakMap<ReadonlyArray<Descriptor>, RankedIndex>();
  const search = Effect.fnUntraced(function* (
    request: SearchRequest,
    catalogue: ReadonlyArray<Descriptor>,
  ): Effect.fn.Return<ReadonlyArray<string>> {
    // Two first queries at once may both build; the answers are the same.
    const index = indexes.get(catalogue) ?? (yield* buildRankedIndex(catalogue));
    indexes.set(catalogue, index);
    return index.rank(request.query, maxRanked);
  });
  return Object.assign(search, { version: "ranked/1" });
};
