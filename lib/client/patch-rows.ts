/** Events laid over the pages of a list that is being read again anyway. */
import type { LoggedEvent } from "../contract/events.ts";

export interface ListPage<Item> {
  readonly items: ReadonlyArray<Item>;
  readonly asOf: number;
}

/**
 * The pages after the events, each row by the newer events that are about it and no others: a storm of
 * one run costs the rows of other runs nothing. `undefined` when no row became another.
 *
 * @param aboutRow the name under which an event and the row that it is about meet
 */
export const patchPages = <Item, Page extends ListPage<Item>>(
  pages: ReadonlyArray<Page>,
  events: ReadonlyArray<LoggedEvent>,
  aboutRow: {
    readonly ofRow: (row: Item) => string;
    readonly ofEvent: (event: LoggedEvent) => string | undefined;
  },
  apply: (row: Item, event: LoggedEvent) => Item,
): ReadonlyArray<Page> | undefined => {
  const byRow = new Map<string, Array<LoggedEvent>>();
  for (const event of events) {
    const name = aboutRow.ofEvent(event);
    if (name === undefined) continue;
    const known = byRow.get(name);
    if (known === undefined) byRow.set(name, [event]);
    else known.push(event);
  }
  if (byRow.size === 0) return undefined;
  let isChanged = false;
  const patched = pages.map((page) => {
    let isPageChanged = false;
    const items = page.items.map((row) => {
      const about = byRow.get(aboutRow.ofRow(row));
      if (about === undefined) return row;
      const next = about.reduce(
        (now, event) => (event.sequence > page.asOf ? apply(now, event) : now),
        row,
      );
      if (next !== row) isPageChanged = true;
      return next;
    });
    if (!isPageChanged) return page;
    isChanged = true;
    return { ...page, items };
  });
  return isChanged ? patched : undefined;
};
