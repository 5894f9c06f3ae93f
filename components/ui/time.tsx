"use client";
import { useSettings } from "#components/shell/settings.tsx";
import { useNow } from "#components/shell/use-now.ts";
import { durationText, secondsText } from "./durations.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

const formatIn = (zone: string, withDate: boolean): Intl.DateTimeFormat => {
  const key = `${zone} ${withDate}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("sv-SE", {
    ...(zone === "system" ? {} : { timeZone: zone }),
    ...(withDate ? { year: "numeric", month: "2-digit", day: "2-digit" } : {}),
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  formats.set(key, made);
  return made;
};

const iso = (at: number): string => new Date(at).toISOString();

/** `2026-11-30 04:12:09` in the chosen zone. */
export const absoluteText = (at: number, zone: string): string => formatIn(zone, true).format(at);

const title = (at: number, zone: string): string =>
  `${absoluteText(at, zone)} ${zone === "system" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone} (${iso(at)})`;

/** A moment, as date and time or only as time of day; the exact value is its title. */
export function At({ at, timeOnly = false }: { at: number; timeOnly?: boolean }) {
  const { zone } = useSettings();
  return (
    <time dateTime={iso(at)} title={title(at, zone)} className="whitespace-nowrap">
      {formatIn(zone, !timeOnly).format(at)}
    </time>
  );
}

/** How long ago, by the server's clock. */
export function Age({ at }: { at: number }) {
  const { zone } = useSettings();
  const now = useNow();
  return (
    <time dateTime={iso(at)} title={title(at, zone)} className="whitespace-nowrap">
      {secondsText(now - at)}
    </time>
  );
}

/** Part of the whole time left under which a countdown warns (C013). */
const warnBelow = 0.25;

/** Time left by the server's clock; attention at 25 % left, danger when it has passed. */
export function Countdown({ from, until }: { from: number; until: number }) {
  const { zone } = useSettings();
  const now = useNow();
  const left = until - now;
  const short = left <= (until - from) * warnBelow;
  const tone = left <= 0 ? "text-danger" : short ? "text-attention font-semibold" : "";
  return (
    <time dateTime={iso(until)} title={title(until, zone)} className={`whitespace-nowrap ${tone}`}>
      {left <= 0 ? "expired" : `${secondsText(left)} left`}
      {short && left > 0 ? <span className="sr-only"> (expires soon)</span> : null}
    </time>
  );
}

/** A length of time that is over. */
export const Length = ({ millis }: { millis: number }) => (
  <span className="mono whitespace-nowrap">{durationText(millis)}</span>
);

/** A length of time that is still growing. */
export function Growing({ since }: { since: number }) {
  const now = useNow();
  return <span className="mono whitespace-nowrap">{secondsText(now - since)}</span>;
}
