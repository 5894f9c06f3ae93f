/**
 * Progressive discovery: an ordinary tool with which a model finds the tools of a large toolkit, and which
 * exposes what it found from the next request on (D-01 to D-18).
 */
export {
  make,
  DiscoveryBounds,
  DiscoveryDigest,
  type DiscoverTools,
  type ToolDiscovery,
  type ToolDiscoveryOptions,
} from "#lib/exposure/discovery/make.ts";
export {
  Descriptor,
  DiscoveryParameters,
  DiscoveryResult,
  Match,
  type SearchRequest,
} from "#lib/exposure/discovery/descriptor.ts";
export {
  DiscoveryCatalogue,
  type Catalogue,
  type DiscoveryAlias,
} from "#lib/exposure/discovery/catalogue.ts";
export type { Search } from "#lib/exposure/discovery/discover.ts";
export { defaultSearch } from "#lib/exposure/discovery/default-search.ts";
export { ToolDiscoveryError } from "#lib/exposure/discovery/discovery-error.ts";
export { rankedSearch } from "#lib/exposure/discovery/ranked-search.ts";
