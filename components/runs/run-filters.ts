/** The filters of the run list as they stand in the address, and as the API takes them. */
import { momentOf } from "#components/ui/zoned-time.ts";
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

export interface AddressReader {
  readonly get: (name: string) => string | undefined;
  readonly all: (name: string) => ReadonlyArray<string>;
}

/** The query of the list; absent filters are left out. Times are typed in the chosen zone (C089). */
export const runQuery = (address: AddressReader, zone: string): ListQuery => ({
  state: address.all("state"),
  agentId: address.get("agentId"),
  tool: address.get("tool"),
  failureTag: address.get("failureTag"),
  outcome: address.get("outcome"),
  text: address.get("text"),
  threadId: address.get("threadId"),
  from: momentOf(address.get("from"), zone),
  to: momentOf(address.get("to"), zone),
});

/** How many filters are set, the state apart. */
export const activeFilters = (address: AddressReader): number =>
  filterNames.filter((name) => address.get(name) !== undefined).length;

/** What a filter offers, and what it is set to: runs of an agent or tool that is not registered any more are kept. */
export const withChosen = (
  offered: ReadonlyArray<string>,
  chosen: string | undefined,
): ReadonlyArray<string> =>
  chosen === undefined || offered.includes(chosen) ? offered : [...offered, chosen];
