/**
 * The shop's records as a data set's files hold them: `users.json`,
 * `orders.json`, `products.json`, each an object keyed by the record's own id.
 * The bundled set and `--dataset FOLDER` are read by the same schemas.
 */
import { Schema } from "effect";

const wholeCents = Schema.makeFilter<number>(
  (amount) =>
    Math.round(amount * 100) / 100 === amount || `an amount of whole cents, seen ${amount}`,
);

/** An amount of money as a JSON number of at most two decimals. */
export const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), wholeCents);

export const Address = Schema.Struct({
  address1: Schema.String,
  address2: Schema.String,
  city: Schema.String,
  country: Schema.String,
  state: Schema.String,
  zip: Schema.String,
});
export type Address = typeof Address.Type;

export const PaymentMethod = Schema.Struct({
  source: Schema.Literals(["credit_card", "gift_card", "paypal"]),
  id: Schema.NonEmptyString,
  brand: Schema.optionalKey(Schema.String),
  last_four: Schema.optionalKey(Schema.String),
  balance: Schema.optionalKey(Amount),
});
export type PaymentMethod = typeof PaymentMethod.Type;

export const UserRecord = Schema.Struct({
  name: Schema.Struct({ first_name: Schema.String, last_name: Schema.String }),
  address: Address,
  email: Schema.String,
  payment_methods: Schema.Record(Schema.String, PaymentMethod),
  orders: Schema.Array(Schema.String),
});
export type UserRecord = typeof UserRecord.Type;

export const ItemOptions = Schema.Record(Schema.String, Schema.String);
export type ItemOptions = typeof ItemOptions.Type;

export const OrderItem = Schema.Struct({
  name: Schema.String,
  product_id: Schema.String,
  item_id: Schema.String,
  price: Amount,
  options: ItemOptions,
});

export const Fulfillment = Schema.Struct({
  tracking_id: Schema.Array(Schema.String),
  item_ids: Schema.Array(Schema.String),
});

export const OrderStatus = Schema.Literals([
  "pending",
  "pending (item modified)",
  "processed",
  "delivered",
  "cancelled",
  "return requested",
  "exchange requested",
]);
export type OrderStatus = typeof OrderStatus.Type;

/** A line of an order's payment history, as the record shows it. */
export const PaymentLine = Schema.Struct({
  transaction_type: Schema.Literals(["payment", "refund"]),
  amount: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)),
  payment_method_id: Schema.String,
});

export const OrderRecord = Schema.Struct({
  order_id: Schema.String,
  user_id: Schema.String,
  address: Address,
  items: Schema.Array(OrderItem),
  fulfillments: Schema.Array(Fulfillment),
  status: OrderStatus,
  payment_history: Schema.Array(PaymentLine),
  cancel_reason: Schema.optionalKey(Schema.String),
  return_items: Schema.optionalKey(Schema.Array(Schema.String)),
  return_payment_method_id: Schema.optionalKey(Schema.String),
  exchange_items: Schema.optionalKey(Schema.Array(Schema.String)),
  exchange_new_items: Schema.optionalKey(Schema.Array(Schema.String)),
  exchange_payment_method_id: Schema.optionalKey(Schema.String),
  exchange_price_difference: Schema.optionalKey(Schema.Finite),
});
export type OrderRecord = typeof OrderRecord.Type;

export const Variant = Schema.Struct({
  item_id: Schema.String,
  options: ItemOptions,
  available: Schema.Boolean,
  price: Amount,
});

export const ProductRecord = Schema.Struct({
  name: Schema.String,
  product_id: Schema.String,
  variants: Schema.Record(Schema.String, Variant),
});
export type ProductRecord = typeof ProductRecord.Type;

export const Users = Schema.Record(Schema.String, UserRecord);
export const Orders = Schema.Record(Schema.String, OrderRecord);
export const Products = Schema.Record(Schema.String, ProductRecord);

/** A whole shop, before it is loaded. */
export interface ShopDataSet {
  readonly name: string;
  readonly users: typeof Users.Type;
  readonly orders: typeof Orders.Type;
  readonly products: typeof Products.Type;
}
