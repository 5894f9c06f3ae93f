/**
 * Where a page ended: the values of the sort columns of its last row, opaque to
 * clients. Not secret and not signed: whatever a client writes into it, it only
 * chooses where in its own tenant's list it goes on.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { InvalidInput } from "#lib/contract/errors.ts";

const Parts = Schema.fromJsonString(
  Schema.Array(Schema.String.check(Schema.isMaxLength(200))).check(Schema.isMaxLength(3)),
);
const decodeParts = Schema.decodeUnknownEffect(Parts);

export const encodeCursor = (parts: ReadonlyArray<string>): string =>
  Buffer.from(JSON.stringify(parts), "utf8").toString("base64url");

/** Whether the date is in the calendar, and its time on the clock: another one would be an error of the database. */
const isMoment = (time: string): boolean => {
  if (time === "infinity") return true;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ...zone] =
    time.match(/\d+/g)?.map(Number) ?? [];
  const date = new Date(Date.UTC(2000, 0));
  date.setUTCFullYear(year, month - 1, day);
  const [zoneHour = 0, ...zoneRest] = time.includes(".") ? zone.slice(1) : zone;
  return (
    year > 0 &&
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    hour < 24 &&
    zoneHour < 16 &&
    [minute, second, ...zoneRest].every((part) => part < 60)
  );
};

const hasForm = (part: string, form: RegExp | undefined): boolean =>
  form?.test(part) === true && (form !== cursorForms.time || isMoment(part));

/** The parts, exactly `count` of them and each of its form, or `InvalidInput`; undefined for the first page. */
export const decodeCursor = (
  cursor: string | undefined,
  forms: ReadonlyArray<RegExp>,
): Effect.Effect<ReadonlyArray<string> | undefined, InvalidInput> => {
  if (cursor === undefined) return Effect.succeed(undefined);
  const refused = new InvalidInput({
    message: "This page's cursor is not one that this list gave. Start from the first page.",
    path: "query.cursor",
  });
  return decodeParts(Buffer.from(cursor, "base64url").toString("utf8")).pipe(
    Effect.mapError(() => refused),
    Effect.filterOrFail(
      (parts) =>
        parts.length === forms.length && parts.every((part, at) => hasForm(part, forms[at])),
      () => refused,
    ),
  );
};

/** Forms of cursor parts: a timestamp as Postgres prints it, an id, a whole number. */
export const cursorForms = {
  time: /^(?:\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d){0,2}|infinity)$/,
  id: /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/,
  number: /^\d{1,18}$/,
} as const;
