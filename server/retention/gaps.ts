/** How the gaps of a thread change when records go and when they come back. Pure. */
import type { ChainGap } from "#lib/durable/verify-thread.ts";

const inOrder = (gaps: ReadonlyArray<ChainGap>): ReadonlyArray<ChainGap> =>
  gaps.toSorted((a, b) => a.after.sequence - b.after.sequence);

/** The gaps once these ranges are gone too; gaps that touch are one, so that their number stays small. */
export const withGaps = (
  gaps: ReadonlyArray<ChainGap>,
  gone: ReadonlyArray<ChainGap>,
): ReadonlyArray<ChainGap> => {
  const joined: Array<ChainGap> = [];
  for (const gap of inOrder([...gaps, ...gone])) {
    const last = joined.at(-1);
    const touches =
      last?.through.sequence === gap.after.sequence && last.through.digest === gap.after.digest;
    if (last !== undefined && touches)
      joined[joined.length - 1] = { after: last.after, through: gap.through };
    else joined.push(gap);
  }
  return joined;
};

const isSame = (a: ChainGap["after"], b: ChainGap["after"]): boolean =>
  a.sequence === b.sequence && a.digest === b.digest;

/**
 * The gaps once the records of a range are back.
 *
 * @returns undefined where the range is not gone, or where it would not join the chain
 */
export const withoutRange = (
  gaps: ReadonlyArray<ChainGap>,
  range: ChainGap,
): ReadonlyArray<ChainGap> | undefined => {
  const within = gaps.find(
    (gap) =>
      gap.after.sequence <= range.after.sequence && gap.through.sequence >= range.through.sequence,
  );
  if (within === undefined) return undefined;
  const isFirst = within.after.sequence === range.after.sequence;
  const isLast = within.through.sequence === range.through.sequence;
  if (isFirst && !isSame(within.after, range.after)) return undefined;
  if (isLast && !isSame(within.through, range.through)) return undefined;
  return inOrder([
    ...gaps.filter((gap) => gap !== within),
    ...(isFirst ? [] : [{ after: within.after, through: range.after }]),
    ...(isLast ? [] : [{ after: range.through, through: within.through }]),
  ]);
};
