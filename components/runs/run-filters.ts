/** The filters of the run list as they stand in the address, and as the API takes them. */
import type { ListQuery } from "#lib/client/api.ts";

export const filterNames = [
  "agentId",
  "tool",
  "failureTag",
  "outcome",
  "text",
  "from",
  "to",
  "threadId",
] as const;
export type FilterName = (typeof filterNames)[number];

export interface AddressReader {
  readonly get: (name: string) => string | undefined;
  readonly all: (name: string) => ReadonlyArray<string>;
}

/** A time typed as `2026-11-30T04:00` in the browser's zone, or undefined when it is none. */
const millisOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
};

/** The query of the list; absent filters are left out. */
export const runQuery = (address: AddressReader): ListQuery => ({
  state: address.all("state"),
  agentId: address.get("agentId"),
  tool: address.get("tool"),
  failureTag: address.get("failureTag"),
  outcome: address.get("outcome"),
  text: address.get("text"),
  threadId: address.get("threadId"),
  from: millisOf(address.get("from")),
  to: millisOf(address.get("to")),
});

/** How many filters are set, the state apart. */
export const activeFilters = (address: AddressReader): number =>
  filterNames.filter((name) => address.get(name) !== undefined).length;
