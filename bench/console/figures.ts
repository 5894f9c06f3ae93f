/** Figures as they are printed: what, how much, what was aimed at, and how busy the machine was. */
import { loadavg } from "node:os";

export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/**
 * Prints one figure beside its target; the ratio says how much of the target was used.
 *
 * @param note what else a reader should know, such as the sizes it was measured with
 */
export const figure = (
  what: string,
  value: number,
  unit: "ms" | "MB" | "KB",
  target: number | undefined,
  note = "",
): void => {
  const aimed =
    target === undefined ? "" : `, target ${target} ${unit}, ratio ${(value / target).toFixed(2)}`;
  const line = `${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit}${aimed}${note === "" ? "" : ` (${note})`}, load ${(loadavg()[0] ?? 0).toFixed(1)}`;
  console.log(line);
};

export const say = (line: string): void => console.log(line);
