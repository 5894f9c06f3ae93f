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
        parts.length === forms.length && parts.every((part, at) => forms[at]?.test(part) === true),
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
