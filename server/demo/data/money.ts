/**
 * Money in integer cents. Nothing that is paid, refunded or added up passes
 * through a fraction: text and cents convert digit by digit.
 */
import { Schema, SchemaGetter } from "effect";

/** Whole cents; up to 10 million dollars in one figure. */
export const Cents = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 }),
).pipe(Schema.brand("Cents"));
export type Cents = typeof Cents.Type;

const decimalText = /^(0|[1-9][0-9]{0,6})\.([0-9]{2})$/;

/** `1234` as `"12.34"`, with a sign where it is negative. */
export const formatCents = (cents: number): string => {
  const digits = String(Math.abs(cents)).padStart(3, "0");
  return `${cents < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

/** Decimal text such as `"129.90"` outside, cents inside; `description` is what a model reads. */
export const centsText = (description: string) =>
  Schema.String.check(Schema.isPattern(decimalText))
    .annotate({ description })
    .pipe(
      Schema.decodeTo(Cents, {
        // The pattern leaves only digits and one point, so dropping the point is exact.
        decode: SchemaGetter.transform((text: string) => Number(text.replace(".", ""))),
        encode: SchemaGetter.transform((cents: number) => formatCents(cents)),
      }),
    );

export const CentsFromText = centsText("Dollars with two decimals as text, such as '129.90'.");

/** The cents of a record's JSON number, which holds at most two decimals. */
export const centsOfAmount = (amount: number): number => Math.round(amount * 100);

/** A record's JSON number for cents: the nearest double to the exact quotient. */
export const amountOfCents = (cents: number): number => cents / 100;
