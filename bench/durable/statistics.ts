/** `share` of the values are at or below the answer; 0 to 1. */
export const quantile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN;

export const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5);
