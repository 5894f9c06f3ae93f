/**
 * Loads a checked data set into the `retail` tables: all of it or nothing, in
 * one transaction, and once: a shop that already holds the set is left alone.
 */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { DataSetConflict } from "./data-set-errors.ts";
import { centsOfAmount } from "./money.ts";
import type { OrderRecord, ProductRecord, ShopDataSet, UserRecord } from "./records.ts";

const LoadedRow = Schema.Struct({ name: Schema.String });
const decodeLoaded = Schema.decodeUnknownEffect(Schema.Array(LoadedRow));

const customerRows = (users: Readonly<Record<string, UserRecord>>) =>
  Object.entries(users).map(([user_id, user]) => ({
    user_id,
    first_name: user.name.first_name,
    last_name: user.name.last_name,
    email: user.email,
    address: user.address,
    order_ids: user.orders,
  }));

const paymentMethodRows = (users: Readonly<Record<string, UserRecord>>) =>
  Object.entries(users).flatMap(([user_id, user]) =>
    Object.values(user.payment_methods).map((method, position) => ({
      user_id,
      payment_method_id: method.id,
      position,
      source: method.source,
      brand: method.brand ?? null,
      last_four: method.last_four ?? null,
      balance_cents: method.balance === undefined ? null : centsOfAmount(method.balance),
    })),
  );

const productRows = (products: Readonly<Record<string, ProductRecord>>) =>
  Object.values(products).map(({ product_id, name }) => ({ product_id, name }));

const variantRows = (products: Readonly<Record<string, ProductRecord>>) =>
  Object.values(products).flatMap((product) =>
    Object.values(product.variants).map((variant, position) => ({
      item_id: variant.item_id,
      product_id: product.product_id,
      position,
      options: variant.options,
      available: variant.available,
      price_cents: centsOfAmount(variant.price),
    })),
  );

const orderRows = (orders: Readonly<Record<string, OrderRecord>>) =>
  Object.values(orders).map((order) => ({
    order_id: order.order_id,
    user_id: order.user_id,
    address: order.address,
    fulfillments: order.fulfillments,
    status: order.status,
    cancel_reason: order.cancel_reason ?? null,
    return_items: order.return_items ?? null,
    return_payment_method_id: order.return_payment_method_id ?? null,
    exchange_items: order.exchange_items ?? null,
    exchange_new_items: order.exchange_new_items ?? null,
    exchange_payment_method_id: order.exchange_payment_method_id ?? null,
    exchange_price_difference_cents:
      order.exchange_price_difference === undefined
        ? null
        : centsOfAmount(order.exchange_price_difference),
  }));

const itemRows = (orders: Readonly<Record<string, OrderRecord>>) =>
  Object.values(orders).flatMap((order) =>
    order.items.map((item, position) => ({
      order_id: order.order_id,
      position,
      item_id: item.item_id,
      product_id: item.product_id,
      name: item.name,
      price_cents: centsOfAmount(item.price),
      options: item.options,
    })),
  );

const paymentRows = (orders: Readonly<Record<string, OrderRecord>>) =>
  Object.values(orders).flatMap((order) =>
    order.payment_history.map((line, position) => ({
      order_id: order.order_id,
      position,
      transaction_type: line.transaction_type,
      amount_cents: centsOfAmount(line.amount),
      recorded_amount: line.amount,
      payment_method_id: line.payment_method_id,
    })),
  );

/** The name of the data set the shop holds; `undefined` for an empty shop. */
export const loadedDataSet = Effect.fn("loadedDataSet")(function* () {
  const sql = yield* SqlClient.SqlClient;
  const [loaded] = yield* decodeLoaded(yield* sql`SELECT name FROM retail.loaded_data_set`);
  return loaded?.name;
});

/**
 * Loads `dataSet` unless it is already there. Two processes that start at once
 * wait for each other on the lock, and the second finds the work done.
 */
export const loadShop = Effect.fn("loadShop")(function* (dataSet: ShopDataSet) {
  const sql = yield* SqlClient.SqlClient;
  const fill = (table: string, rows: ReadonlyArray<object>) =>
    sql`INSERT INTO ${sql(table)} SELECT * FROM json_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::json)`;

  const load = Effect.gen(function* () {
    yield* sql`SELECT pg_advisory_xact_lock(hashtext('retail.loaded_data_set'))`;
    const loaded = yield* loadedDataSet();
    if (loaded !== undefined) {
      if (loaded === dataSet.name) return { name: dataSet.name, loaded: false };
      return yield* new DataSetConflict({ loaded, requested: dataSet.name });
    }
    yield* fill("retail.customers", customerRows(dataSet.users));
    yield* fill("retail.payment_methods", paymentMethodRows(dataSet.users));
    yield* fill("retail.products", productRows(dataSet.products));
    yield* fill("retail.variants", variantRows(dataSet.products));
    yield* fill("retail.orders", orderRows(dataSet.orders));
    yield* fill("retail.order_items", itemRows(dataSet.orders));
    yield* fill("retail.order_payments", paymentRows(dataSet.orders));
    yield* sql`INSERT INTO retail.loaded_data_set (name, customers, orders, products) VALUES (
      ${dataSet.name}, ${Object.keys(dataSet.users).length},
      ${Object.keys(dataSet.orders).length}, ${Object.keys(dataSet.products).length})`;
    return { name: dataSet.name, loaded: true };
  });
  return yield* sql.withTransaction(load);
});
