/** What goes over the wire between the shop and its payment provider. */
import { Schema } from "effect";

import { CentsFromText } from "../data/money.ts";

export const RequestKind = Schema.Literals(["refund", "charge"]);
export type RequestKind = typeof RequestKind.Type;

const boundedText = (maxLength: number) =>
  Schema.NonEmptyString.check(Schema.isMaxLength(maxLength));

export const IdempotencyKey = boundedText(256);

/** A request for money. The amount travels as decimal text, never as a JSON number. */
export const MoneyRequest = Schema.Struct({
  order_id: boundedText(64),
  payment_method_id: boundedText(64),
  amount: CentsFromText,
});
export type MoneyRequest = typeof MoneyRequest.Type;

/** One line of the provider's ledger. */
export const LedgerEntry = Schema.Struct({
  entry_id: Schema.String,
  kind: RequestKind,
  idempotency_key: Schema.String,
  order_id: Schema.String,
  payment_method_id: Schema.String,
  amount: CentsFromText,
  outcome: Schema.Literals(["completed", "declined"]),
  decline_reason: Schema.NullOr(Schema.String),
  created_at: Schema.String,
});
export type LedgerEntry = typeof LedgerEntry.Type;

export const ProviderRefusal = Schema.Struct({ error: Schema.String });

export const FaultBehaviour = Schema.Literals([
  "decline",
  "drop-before-commit",
  "drop-after-commit",
  "delay",
]);

/** A fault to put in force; without `order_id` for every order, without `remaining` until removed. */
export const FaultRule = Schema.Struct({
  request_kind: Schema.Literals(["refund", "charge", "status"]),
  order_id: Schema.optionalKey(boundedText(64)),
  behaviour: FaultBehaviour,
  delay_millis: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 600_000 })),
  ),
  remaining: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })),
  ),
});
export type FaultRule = typeof FaultRule.Type;
