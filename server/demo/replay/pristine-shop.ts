/**
 * A copy of the shop as it was loaded. Every recorded task starts from it: the
 * tables are refilled from the copy, and what a task changed is what differs.
 */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

const loaded = ["customers", "payment_methods", "products", "variants", "orders", "order_items", "order_payments"];
const writtenTo = ["provider_requests", "applied_calls", "outbox", "notes", "return_labels", "transfers"];

const IdRow = Schema.Struct({ id: Schema.String });
const decodeIds = Schema.decodeUnknownEffect(Schema.Array(IdRow));

/** Copies the loaded tables aside, into the schema `retail_pristine`. */
export const keepPristine = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`CREATE SCHEMA retail_pristine`;
  for (const table of loaded) {
    yield* sql`CREATE TABLE ${sql(`retail_pristine.${table}`)} AS TABLE ${sql(`retail.${table}`)}`;
  }
});

/** Makes the shop what it was when `keepPristine` ran. */
export const restorePristine = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const restore = Effect.gen(function* () {
    yield* sql`TRUNCATE ${sql.csv([...loaded, ...writtenTo].map((table) => sql`${sql(`retail.${table}`)}`))}`;
    for (const table of loaded) {
      yield* sql`INSERT INTO ${sql(`retail.${table}`)} SELECT * FROM ${sql(`retail_pristine.${table}`)}`;
    }
  });
  yield* sql.withTransaction(restore);
});

const changedIds = Effect.fn("pristineShop.changedIds")(function* (column: string, tables: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient;
  const ids = new Set<string>();
  for (const table of tables) {
    const now = sql(`retail.${table}`);
    const before = sql(`retail_pristine.${table}`);
    const id = sql(column);
    const rows = yield* sql`SELECT DISTINCT id FROM (
        (SELECT ${id} AS id, t::text FROM ${now} t EXCEPT SELECT ${id}, t::text FROM ${before} t)
        UNION ALL
        (SELECT ${id} AS id, t::text FROM ${before} t EXCEPT SELECT ${id}, t::text FROM ${now} t)) AS different`;
    for (const row of yield* decodeIds(rows)) ids.add(row.id);
  }
  return [...ids].sort();
});

/** Ids of the orders and customers that are not what they were; products never change. */
export const changedRecords = Effect.gen(function* () {
  return {
    orders: yield* changedIds("order_id", ["orders", "order_items", "order_payments"]),
    users: yield* changedIds("user_id", ["customers", "payment_methods"]),
    items: yield* changedIds("item_id", ["variants"]),
  };
});
