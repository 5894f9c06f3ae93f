/**
 * Orders in the `retail` tables: one read that builds the whole record, and the
 * lock that every change takes first (order row, then the customer's payment
 * methods: always in this order).
 */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { amountOfCents } from "../data/money.ts";
import {
  Address,
  Fulfillment,
  ItemOptions,
  OrderStatus,
  type OrderRecord,
} from "../data/records.ts";
import { refuse } from "./Refusal.ts";

const OrderRow = Schema.Struct({
  order_id: Schema.String,
  user_id: Schema.String,
  address: Address,
  items: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      product_id: Schema.String,
      item_id: Schema.String,
      price_cents: Schema.Int,
      options: ItemOptions,
    }),
  ),
  fulfillments: Schema.Array(Fulfillment),
  status: OrderStatus,
  payments: Schema.Array(
    Schema.Struct({
      transaction_type: Schema.Literals(["payment", "refund"]),
      amount_cents: Schema.Int,
      recorded_amount: Schema.Finite,
      payment_method_id: Schema.String,
    }),
  ),
  cancel_reason: Schema.NullOr(Schema.String),
  return_items: Schema.NullOr(Schema.Array(Schema.String)),
  return_payment_method_id: Schema.NullOr(Schema.String),
  exchange_items: Schema.NullOr(Schema.Array(Schema.String)),
  exchange_new_items: Schema.NullOr(Schema.Array(Schema.String)),
  exchange_payment_method_id: Schema.NullOr(Schema.String),
  exchange_price_difference_cents: Schema.NullOr(Schema.Int),
});
/** An order with exact cents, before it becomes a record for the model. */
export type OrderRow = typeof OrderRow.Type;

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(OrderRow));

const readRows = Effect.fn("orders.readRows")(function* (orderId: string) {
  const sql = yield* SqlClient.SqlClient;
  const rows = yield* sql`
    SELECT o.order_id, o.user_id, o.address, o.fulfillments, o.status, o.cancel_reason,
      o.return_items, o.return_payment_method_id,
      o.exchange_items, o.exchange_new_items, o.exchange_payment_method_id,
      o.exchange_price_difference_cents::integer AS exchange_price_difference_cents,
      (SELECT coalesce(json_agg(json_build_object(
          'name', i.name, 'product_id', i.product_id, 'item_id', i.item_id,
          'price_cents', i.price_cents, 'options', i.options) ORDER BY i.position), '[]'::json)
        FROM retail.order_items i WHERE i.order_id = o.order_id) AS items,
      (SELECT coalesce(json_agg(json_build_object(
          'transaction_type', p.transaction_type, 'amount_cents', p.amount_cents,
          'recorded_amount', p.recorded_amount, 'payment_method_id', p.payment_method_id) ORDER BY p.position), '[]'::json)
        FROM retail.order_payments p WHERE p.order_id = o.order_id) AS payments
    FROM retail.orders o WHERE o.order_id = ${orderId}`;
  return yield* decodeRows(rows);
});

/** The order, or the shop's refusal "order not found". */
export const findOrder = Effect.fn("orders.findOrder")(function* (orderId: string) {
  const [row] = yield* readRows(orderId);
  return row ?? (yield* refuse("order not found"));
});

/** The same, holding the order until the transaction ends. */
export const lockOrder = Effect.fn("orders.lockOrder")(function* (orderId: string) {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`SELECT order_id FROM retail.orders WHERE order_id = ${orderId} FOR UPDATE`;
  return yield* findOrder(orderId);
});

const isSet = <A>(value: A | null): value is A => value !== null;

/** The order as the desk's tools report it. */
export const toOrderRecord = (row: OrderRow): OrderRecord => ({
  order_id: row.order_id,
  user_id: row.user_id,
  address: row.address,
  items: row.items.map(({ price_cents, options, ...item }) => ({
    ...item,
    price: amountOfCents(price_cents),
    options,
  })),
  fulfillments: row.fulfillments,
  status: row.status,
  payment_history: row.payments.map(({ transaction_type, recorded_amount, payment_method_id }) => ({
    transaction_type,
    amount: recorded_amount,
    payment_method_id,
  })),
  ...(isSet(row.cancel_reason) ? { cancel_reason: row.cancel_reason } : {}),
  ...(isSet(row.return_items) ? { return_items: row.return_items } : {}),
  ...(isSet(row.return_payment_method_id)
    ? { return_payment_method_id: row.return_payment_method_id }
    : {}),
  ...(isSet(row.exchange_items) ? { exchange_items: row.exchange_items } : {}),
  ...(isSet(row.exchange_new_items) ? { exchange_new_items: row.exchange_new_items } : {}),
  ...(isSet(row.exchange_payment_method_id)
    ? { exchange_payment_method_id: row.exchange_payment_method_id }
    : {}),
  ...(isSet(row.exchange_price_difference_cents)
    ? { exchange_price_difference: amountOfCents(row.exchange_price_difference_cents) }
    : {}),
});

/** The record of an order as it stands now. */
export const orderRecord = (orderId: string) => Effect.map(findOrder(orderId), toOrderRecord);

export interface NewPayment {
  readonly transaction_type: "payment" | "refund";
  readonly cents: number;
  /** The figure the order's history shows; the amount in dollars unless said otherwise. */
  readonly recordedAmount?: number;
  readonly payment_method_id: string;
}

/** Appends lines to an order's payment history; the caller holds the order's lock. */
export const appendPayments = Effect.fn("orders.appendPayments")(function* (
  row: OrderRow,
  payments: ReadonlyArray<NewPayment>,
) {
  const sql = yield* SqlClient.SqlClient;
  for (const [index, payment] of payments.entries()) {
    const recorded = String(payment.recordedAmount ?? amountOfCents(payment.cents));
    yield* sql`INSERT INTO retail.order_payments
      (order_id, position, transaction_type, amount_cents, recorded_amount, payment_method_id)
      VALUES (${row.order_id}, ${row.payments.length + index}, ${payment.transaction_type},
        ${payment.cents}, ${recorded}::numeric, ${payment.payment_method_id})`;
  }
});
