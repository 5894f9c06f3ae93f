/** Customers and their payment methods in the `retail` tables. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { amountOfCents } from "../data/money.ts";
import { Address, type PaymentMethod, type UserRecord } from "../data/records.ts";
import { refuse } from "./Refusal.ts";

const MethodRow = Schema.Struct({
  payment_method_id: Schema.String,
  source: Schema.Literals(["credit_card", "gift_card", "paypal"]),
  brand: Schema.NullOr(Schema.String),
  last_four: Schema.NullOr(Schema.String),
  balance_cents: Schema.NullOr(Schema.Int),
});
/** A payment method with exact cents. */
export type MethodRow = typeof MethodRow.Type;

const CustomerRow = Schema.Struct({
  user_id: Schema.String,
  first_name: Schema.String,
  last_name: Schema.String,
  email: Schema.String,
  address: Address,
  order_ids: Schema.Array(Schema.String),
  methods: Schema.Array(MethodRow),
});
export type CustomerRow = typeof CustomerRow.Type;

const decodeCustomers = Schema.decodeUnknownEffect(Schema.Array(CustomerRow));
const decodeIds = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ user_id: Schema.String })),
);

/** The customer, or the shop's refusal "user not found". */
export const findCustomer = Effect.fn("customers.findCustomer")(function* (userId: string) {
  const sql = yield* SqlClient.SqlClient;
  const rows = yield* sql`
    SELECT c.user_id, c.first_name, c.last_name, c.email, c.address, c.order_ids,
      (SELECT coalesce(json_agg(json_build_object(
          'payment_method_id', m.payment_method_id, 'source', m.source, 'brand', m.brand,
          'last_four', m.last_four, 'balance_cents', m.balance_cents) ORDER BY m.position), '[]'::json)
        FROM retail.payment_methods m WHERE m.user_id = c.user_id) AS methods
    FROM retail.customers c WHERE c.user_id = ${userId} AND c.deleted_at IS NULL`;
  const [row] = yield* decodeCustomers(rows);
  return row ?? (yield* refuse("user not found"));
});

/** Ids of customers with this e-mail address, whatever its capitals. */
export const findIdsByEmail = Effect.fn("customers.findIdsByEmail")(function* (email: string) {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeIds(
    yield* sql`SELECT user_id FROM retail.customers WHERE lower(email) = lower(${email}) AND deleted_at IS NULL`,
  );
});

/** Ids of customers with this name and zip code, oldest id first. */
export const findIdsByNameAndZip = Effect.fn("customers.findIdsByNameAndZip")(function* (
  firstName: string,
  lastName: string,
  zip: string,
) {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeIds(
    yield* sql`SELECT user_id FROM retail.customers WHERE lower(first_name) = lower(${firstName})
      AND lower(last_name) = lower(${lastName}) AND address->>'zip' = ${zip} AND deleted_at IS NULL ORDER BY user_id`,
  );
});

/** Holds the customer's payment methods until the transaction ends and returns the customer. */
export const lockCustomer = Effect.fn("customers.lockCustomer")(function* (userId: string) {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`SELECT payment_method_id FROM retail.payment_methods WHERE user_id = ${userId} ORDER BY payment_method_id FOR UPDATE`;
  return yield* findCustomer(userId);
});

/** One of the customer's payment methods, or the refusal "payment method not found". */
export const methodOf = (customer: CustomerRow, paymentMethodId: string) => {
  const method = customer.methods.find(
    ({ payment_method_id }) => payment_method_id === paymentMethodId,
  );
  return method === undefined ? refuse("payment method not found") : Effect.succeed(method);
};

/**
 * Adds cents to a gift card (takes them when negative); other methods hold no
 * balance and are left alone. Refuses, changing nothing, rather than go below 0.
 */
export const creditMethod = Effect.fn("customers.creditMethod")(function* (
  userId: string,
  method: MethodRow,
  cents: number,
  insufficient: string,
) {
  if (method.source !== "gift_card") return;
  const sql = yield* SqlClient.SqlClient;
  const changed =
    yield* sql`UPDATE retail.payment_methods SET balance_cents = balance_cents + ${cents}
    WHERE user_id = ${userId} AND payment_method_id = ${method.payment_method_id} AND balance_cents + ${cents} >= 0
    RETURNING payment_method_id`;
  if (changed.length === 0) return yield* refuse(insufficient);
});

const toMethod = (row: MethodRow): PaymentMethod => ({
  source: row.source,
  id: row.payment_method_id,
  ...(row.brand === null ? {} : { brand: row.brand }),
  ...(row.last_four === null ? {} : { last_four: row.last_four }),
  ...(row.balance_cents === null ? {} : { balance: amountOfCents(row.balance_cents) }),
});

/** The customer as the desk's tools report it. */
export const toUserRecord = (row: CustomerRow): UserRecord => ({
  name: { first_name: row.first_name, last_name: row.last_name },
  address: row.address,
  email: row.email,
  payment_methods: Object.fromEntries(
    row.methods.map((method) => [method.payment_method_id, toMethod(method)]),
  ),
  orders: row.order_ids,
});
