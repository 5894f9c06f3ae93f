import { Schema } from "effect";

/** Dollars with two decimals as text; sums of a report may exceed one payment's bounds. */
export const reportAmount = Schema.String.check(Schema.isPattern(/^[0-9]{1,12}\.[0-9]{2}$/));
