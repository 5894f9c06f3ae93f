/** Which of a thread's runs may go: pure, from where their records stand. */

export interface RunSpan {
  readonly runId: string;
  /** Places of its first and its last record in the thread. */
  readonly first: number;
  readonly last: number;
  /** Settled before the age, and no effect of it in doubt. */
  readonly mayGo: boolean;
}

export interface Prefix {
  readonly runIds: ReadonlyArray<string>;
  /** The last record that goes; every record up to it is of one of the runs. */
  readonly through: number;
}

/**
 * The longest beginning of the thread that is made of whole runs that may go, so
 * that the chain is cut in one place and goes on from there. Runs overlap where one
 * was parked on a doubt while others passed.
 *
 * @returns undefined when the first run must stay
 */
export const archivablePrefix = (spans: ReadonlyArray<RunSpan>): Prefix | undefined => {
  const ordered = spans.toSorted((a, b) => a.first - b.first);
  let best: Prefix | undefined;
  let through = 0;
  const runIds: Array<string> = [];
  for (const [place, span] of ordered.entries()) {
    if (!span.mayGo) break;
    through = Math.max(through, span.last);
    runIds.push(span.runId);
    const next = ordered[place + 1];
    // Nothing that begins later has begun before this place.
    if (next === undefined || next.first > through) best = { runIds: [...runIds], through };
  }
  return best;
};
