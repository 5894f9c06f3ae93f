import * as Effect from "effect/Effect";
import * as Predicate from "effect/Predicate";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import type { CatalogueEntry, ReadCatalogue } from "./catalogue.ts";
import type { Descriptor, DiscoveryResult, SearchRequest } from "./descriptor.ts";
import { discoveryError, type ToolDiscoveryError } from "./discovery-error.ts";
import { documentEntry } from "./match-schemas.ts";
import { noMatchNotice } from "./notices.ts";
import { packMatches } from "./pack.ts";

/**
 * Ranks the eligible tools for a query: ids of the catalogue it was given, best first, each once, at most
 * 1,024 (D-12). `version` names its meaning for the definition digest (D-18).
 */
export interface Search<out E, out R> {
  (
    request: SearchRequest,
    catalogue: ReadonlyArray<Descriptor>,
  ): Effect.Effect<ReadonlyArray<string>, E, R>;
  readonly version?: string;
}

/** Bounds of one discovery result. */
export interface DiscoveryBounds {
  readonly maxResults: number;
  readonly maxResultBytes: number;
}

/** Most ids that a search may return (D-12). */
export const maxSearchIds = 1_024;

/**
 * One discovery: search, check every id, document the first `maxResults`, pack (D-08 to D-12). The search
 * runs in a Scope of its own, which closes however it ends (D-14).
 */
export const discover = Effect.fnUntraced(function* <E, R>(
  request: SearchRequest,
  catalogue: ReadCatalogue,
  search: Search<E, R>,
  bounds: DiscoveryBounds,
): Effect.fn.Return<DiscoveryResult, E | ToolDiscoveryError, Exclude<R, Scope.Scope>> {
  const descriptors = catalogue.descriptors(request.namespace);
  const ids = yield* Effect.scoped(Effect.suspend(() => search(request, descriptors)));
  const ranked = yield* Effect.fromResult(checkIds(ids, request.namespace, catalogue));
  const considered = ranked.slice(0, bounds.maxResults);
  if (considered.length === 0) {
    return { toolNames: [], matches: [], notice: noMatchNotice(request.namespace !== undefined) };
  }
  const matches = yield* Effect.fromResult(Result.all(considered.map(documentEntry)));
  return packMatches(matches, bounds.maxResultBytes);
});

/** Every id is checked before the count is limited: one wrong id anywhere refuses the whole answer. */
const checkIds = (
  ids: unknown,
  namespace: string | undefined,
  catalogue: ReadCatalogue,
): Result.Result<ReadonlyArray<CatalogueEntry>, ToolDiscoveryError> => {
  if (!Array.isArray(ids))
    return Result.fail(discoveryError("invalid-matches", "The search returned no list of ids."));
  if (ids.length > maxSearchIds) {
    return Result.fail(
      discoveryError(
        "invalid-matches",
        `The search returned ${ids.length} ids; at most ${maxSearchIds} are allowed.`,
      ),
    );
  }
  const seen = new Set<string>();
  const entries: Array<CatalogueEntry> = [];
  for (const id of ids) {
    if (!Predicate.isString(id))
      return Result.fail(
        discoveryError("invalid-matches", "The search returned an id that is no text."),
      );
    const entry = catalogue.byId.get(id);
    const shown = JSON.stringify(id.slice(0, 128));
    // The search was given one namespace only; a tool of another one was not among its choices.
    const isOffered = namespace === undefined || entry?.descriptor.namespace === namespace;
    if (entry === undefined || !isOffered) {
      return Result.fail(
        discoveryError(
          "unknown-match",
          `The search returned ${shown}, which is not in its catalogue.`,
          id,
        ),
      );
    }
    if (seen.has(id))
      return Result.fail(
        discoveryError("invalid-matches", `The search returned ${shown} twice.`, id),
      );
    seen.add(id);
    entries.push(entry);
  }
  return Result.succeed(entries);
};
