/**
 * The last events of the log, so that an answer that left the server before them is brought up to date
 * when it arrives after them.
 */
import type { LoggedEvent } from "../contract/events.ts";

export interface RecentEvents {
  /** Keeps an event; older ones fall out beyond `capacity`. */
  readonly keep: (event: LoggedEvent) => void;
  /** Every event after `sequence`, in order; undefined when some of them are not kept any more. */
  readonly after: (sequence: number) => ReadonlyArray<LoggedEvent> | undefined;
  /** Forgets all; from now on `sequence` and what follows is known. */
  readonly restart: (sequence: number) => void;
  /** The sequence of the newest kept event, or where it was restarted. */
  readonly cursor: () => number;
}

/** @param capacity how many events are kept; the oldest go first */
export const makeRecentEvents = (capacity = 2_000): RecentEvents => {
  let kept: Array<LoggedEvent> = [];
  /** Everything after this sequence is kept. */
  let base = 0;
  let cursor = 0;
  return {
    keep: (event) => {
      if (event.sequence <= cursor) return;
      kept.push(event);
      cursor = event.sequence;
      if (kept.length > capacity * 2) {
        kept = kept.slice(-capacity);
        base = (kept[0]?.sequence ?? cursor + 1) - 1;
      }
    },
    after: (sequence) => {
      if (sequence >= cursor) return [];
      if (sequence < base) return undefined;
      let low = 0;
      let high = kept.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((kept[middle]?.sequence ?? 0) <= sequence) low = middle + 1;
        else high = middle;
      }
      return kept.slice(low);
    },
    restart: (sequence) => {
      kept = [];
      base = sequence;
      cursor = sequence;
    },
    cursor: () => cursor,
  };
};
