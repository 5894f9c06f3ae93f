/** How old a settled run must be, as people write it. */
import * as Schema from "effect/Schema";

const seconds: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 };

/** `90d`, `36h` or `30m`: a whole number from 1 to 100,000 and a unit. */
export const AgeText = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,4}[mhd]$/));

/** The age in seconds; undefined where the text is none. */
export const ageSeconds = (text: string): number | undefined => {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const each = seconds[unit ?? ""];
  return count === undefined || each === undefined ? undefined : Number(count) * each;
};
