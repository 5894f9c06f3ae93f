/** How columns are read and written: exact integers, milliseconds, text that a column can hold. */
import * as PgTypes from "@effect/sql-pg/PgTypes";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";

/** `bigint` columns decode to a JavaScript bigint; every one of ours fits a number exactly. */
export const Int8 = Schema.BigInt.pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((value: bigint) => Number(value)),
    encode: SchemaGetter.transform((value: number) => BigInt(value)),
  }),
);

/** A `timestamptz` column as milliseconds since 1970. */
export const Millis = Schema.Date.pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((value: Date) => value.getTime()),
    encode: SchemaGetter.transform((value: number) => new Date(value)),
  }),
);

/** A canonical JSON text column as its value. */
export const JsonText = <S extends Schema.Top>(schema: S) => Schema.fromJsonString(schema);

export const textArray = (values: ReadonlyArray<string>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text));

export const int8Array = (values: ReadonlyArray<number | null>): PgTypes.Parameter =>
  Result.getOrThrow(
    PgTypes.array(
      values.map((value) => (value === null ? null : BigInt(value))),
      PgTypes.OID.int8,
    ),
  );

/** Names that lists filter by are cut here, so that an index entry always fits. */
export const maxNameLength = 256;

/**
 * Text for a column that people read and lists filter by. PostgreSQL text has no
 * NUL and is valid UTF-8, so those become visible stand-ins; the exact text is in
 * the record.
 */
export const columnText = (text: string, maxLength = 4_000): string => {
  const clean = text.replaceAll("\u0000", "\u2400").toWellFormed();
  return clean.length <= maxLength
    ? clean
    : `${clean.slice(0, maxLength - 1).toWellFormed()}\u2026`;
};

export const columnName = (name: string): string => columnText(name, maxNameLength);
