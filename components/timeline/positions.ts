/**
 * Where things stand on a timeline: pure. Long stretches in which nothing worked are folded to a fixed
 * width, so that seconds of work stay visible beside days of waiting. Times are kept as they are: a call
 * that ends before it starts, or starts before its turn, gets a mark and never a negative width (C091).
 */

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Scale {
  /** From 0 to 1. */
  readonly at: (time: number) => number;
  readonly folds: ReadonlyArray<{
    readonly from: number;
    readonly to: number;
    readonly x: number;
    readonly width: number;
  }>;
  readonly from: number;
  readonly to: number;
}

/** A gap is folded when it is longer than this and than a quarter of all the work. */
export const foldMillis = 5_000;
const foldShare = 0.25;
/** Width of a fold, as a part of all the work. */
const foldWidth = 0.06;

/** The union of stretches, in order and without overlaps. */
export const merged = (stretches: ReadonlyArray<Stretch>): ReadonlyArray<Stretch> => {
  const sorted = stretches
    .map(({ from, to }) => ({ from: Math.min(from, to), to: Math.max(from, to) }))
    .toSorted((left, right) => left.from - right.from);
  const whole: Array<{ from: number; to: number }> = [];
  for (const stretch of sorted) {
    const last = whole.at(-1);
    if (last !== undefined && stretch.from <= last.to) last.to = Math.max(last.to, stretch.to);
    else whole.push({ ...stretch });
  }
  return whole;
};

/** @param busy stretches in which a model or a tool worked @param all everything that must have a place */
export const makeScale = (busy: ReadonlyArray<Stretch>, all: ReadonlyArray<Stretch>): Scale => {
  const bounds = merged(all);
  const from = bounds[0]?.from ?? 0;
  const to = Math.max(from + 1, bounds.at(-1)?.to ?? from + 1);
  const work = merged(busy);
  const worked = Math.max(
    1,
    work.reduce((sum, stretch) => sum + (stretch.to - stretch.from), 0),
  );
  const longest = Math.max(foldMillis, worked * foldShare);
  const gaps: Array<Stretch> = [];
  let cursor = from;
  for (const stretch of [...work, { from: to, to }]) {
    if (stretch.from - cursor > longest) gaps.push({ from: cursor, to: stretch.from });
    cursor = Math.max(cursor, stretch.to);
  }
  const folded = gaps.reduce((sum, gap) => sum + (gap.to - gap.from), 0);
  const fold = worked * foldWidth;
  const length = Math.max(1, to - from - folded + gaps.length * fold);
  const at = (time: number): number => {
    const clamped = Math.min(to, Math.max(from, time));
    let place = clamped - from;
    for (const gap of gaps) {
      if (clamped <= gap.from) break;
      const inside = Math.min(clamped, gap.to) - gap.from;
      place += (inside / (gap.to - gap.from)) * fold - inside;
    }
    return Math.min(1, Math.max(0, place / length));
  };
  return {
    at,
    from,
    to,
    folds: gaps.map((gap) => ({ ...gap, x: at(gap.from), width: at(gap.to) - at(gap.from) })),
  };
};

export interface Bar {
  readonly x: number;
  readonly width: number;
  /** The stored times contradict each other; they are drawn at the earlier one. */
  readonly skewed: boolean;
}

/** Thinner than this nothing can be seen or pressed. */
const leastWidth = 0.002;

export const barOf = (scale: Scale, from: number, to: number): Bar => {
  const skewed = to < from;
  const x = scale.at(Math.min(from, to));
  return { x, width: Math.max(leastWidth, scale.at(Math.max(from, to)) - x), skewed };
};
