/** Wall-clock text such as `2026-11-30T04:00` in a zone, as a moment; pure. */

const partsIn = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-US", {
    ...(zone === "system" ? {} : { timeZone: zone }),
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });

/** How far the zone's wall clock is ahead of UTC at a moment, in milliseconds. */
const offsetAt = (format: Intl.DateTimeFormat, at: number): number => {
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
  const wall = Date.UTC(
    part["year"] ?? 0,
    (part["month"] ?? 1) - 1,
    part["day"] ?? 1,
    part["hour"] ?? 0,
    part["minute"] ?? 0,
    part["second"] ?? 0,
  );
  return wall - Math.floor(at / 1_000) * 1_000;
};

/**
 * The moment at which a wall clock in the zone shows the text; undefined when the text is no time. Where a
 * clock change skips or repeats the hour, the moment before the change is taken.
 *
 * @param zone an IANA zone, or `system` for the browser's own
 */
export const momentOf = (text: string | undefined, zone: string): number | undefined => {
  if (text === undefined) return undefined;
  const wall = Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return undefined;
  const format = partsIn(zone);
  const guess = wall - offsetAt(format, wall);
  return wall - offsetAt(format, guess);
};
