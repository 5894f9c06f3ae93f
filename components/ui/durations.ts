/** Lengths of time and sizes in words, always with their unit (OP-10). */

/** For instance `840 ms`, `4.2 s`, `3 min 20 s`, `5 h 12 min`, `12 d 3 h`. */
export const durationText = (millis: number): string => {
  const length = Math.max(0, millis);
  if (length < 1_000) return `${Math.round(length)} ms`;
  if (length < 10_000) return `${(Math.floor(length / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(length / 1_000);
  if (seconds < 60) return `${seconds} s`;
  return coarse(seconds);
};

/** The same for ages and countdowns, which move by the second. */
export const secondsText = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1_000));
  return seconds < 60 ? `${seconds} s` : coarse(seconds);
};

const coarse = (seconds: number): string => {
  if (seconds < 3_600) return pair(seconds, 60, "min", 1, "s");
  if (seconds < 86_400) return pair(seconds, 3_600, "h", 60, "min");
  return pair(seconds, 86_400, "d", 3_600, "h");
};

const pair = (
  seconds: number,
  large: number,
  largeUnit: string,
  small: number,
  smallUnit: string,
): string => {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeUnit}${rest === 0 ? "" : ` ${rest} ${smallUnit}`}`;
};

const bytesUnits = ["B", "KiB", "MiB", "GiB"] as const;

/** For instance `512 B`, `3.2 KiB`. */
export const bytesText = (bytes: number): string => {
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < bytesUnits.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${bytesUnits[unit]}`;
};

const grouped = new Intl.NumberFormat("en-US");

/** A count with thousands grouped. */
export const countText = (count: number): string => grouped.format(count);

/** A count of things: `1 run`, `2,000 runs`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** A count that stopped at its cap: `10,000+`. */
export const cappedText = (count: { readonly value: number; readonly capped: boolean }): string =>
  `${countText(count.value)}${count.capped ? "+" : ""}`;
