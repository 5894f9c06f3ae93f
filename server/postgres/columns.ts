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

export { columnName, columnText } from "#lib/durable/storable-text.ts";
