/**
 * A copy of the shop as it was loaded. What a task changed is what differs from
 * the copy, and every task starts from it again: the changed records are put back,
 * and whatever that should miss shows up as a difference of the next task.
 */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

const loaded = [
  { table: "customers", key: "user_id" },
  { table: "payment_methods", key: "user_id" },
  { table: "products", key: "product_id" },
  { table: "variants", key: "item_id" },
  { table: "orders", key: "order_id" },
  { table: "order_items", key: "order_id" },
  { table: "order_payments", key: "order_id" },
];
const writtenTo = [
  "provider_requests",
  "applied_calls",
  "outbox",
  "notes",
  "return_labels",
  "transfers",
];

const IdRow = Schema.Struct({ id: Schema.String });
const decodeIds = Schema.decodeUnknownEffect(Schema.Array(IdRow));

/** Copies the loaded tables aside, into the schema `retail_pristine`, and notes from then on which rows are touched. */
export const keepPristine = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  yield* sql`CREATE SCHEMA retail_pristine`;
  yield* sql`CREATE TABLE retail_pristine.touched (key_name text, id text, PRIMARY KEY (key_name, id))`;
  yield* sql`CREATE FUNCTION retail_pristine.touch() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO retail_pristine.touched
        SELECT TG_ARGV[0], to_jsonb(touched_row)->>TG_ARGV[0] FROM (VALUES (NEW), (OLD)) AS rows (touched_row)
        WHERE NOT (touched_row IS NULL) ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`;
  for (const { table, key } of loaded) {
    const name = sql(`retail.${table}`);
    yield* sql`CREATE TABLE ${sql(`retail_pristine.${table}`)} AS TABLE ${name}`;
    yield* sql`CREATE INDEX ON ${sql(`retail_pristine.${table}`)} (${sql(key)})`;
    yield* sql`CREATE TRIGGER touch AFTER INSERT OR UPDATE OR DELETE ON ${name}
      FOR EACH ROW EXECUTE FUNCTION retail_pristine.touch(${sql(key)})`;
  }
});

/** Ids of what is not as it was. */
export interface ChangedRecords {
  readonly orders: ReadonlyArray<string>;
  readonly users: ReadonlyArray<string>;
  /** Variants; no tool changes one, so any id here is a fault. */
  readonly items: ReadonlyArray<string>;
}

const changedIds = Effect.fn("pristineShop.changedIds")(function* (
  column: string,
  tables: ReadonlyArray<string>,
) {
  const sql = yield* SqlClient.SqlClient;
  const ids = new Set<string>();
  for (const table of tables) {
    const now = sql(`retail.${table}`);
    const before = sql(`retail_pristine.${table}`);
    const id = sql(column);
    const touched = sql`${id} IN (SELECT id FROM retail_pristine.touched WHERE key_name = ${column})`;
    const rows = yield* sql`SELECT DISTINCT id FROM (
        (SELECT ${id} AS id, t::text FROM ${now} t WHERE ${touched} EXCEPT SELECT ${id}, t::text FROM ${before} t WHERE ${touched})
        UNION ALL
        (SELECT ${id} AS id, t::text FROM ${before} t WHERE ${touched} EXCEPT SELECT ${id}, t::text FROM ${now} t WHERE ${touched})) AS different`;
    for (const row of yield* decodeIds(rows)) ids.add(row.id);
  }
  return [...ids].sort();
});

export const changedRecords = Effect.gen(function* () {
  const changed: ChangedRecords = {
    orders: yield* changedIds("order_id", ["orders", "order_items", "order_payments"]),
    users: yield* changedIds("user_id", ["customers", "payment_methods"]),
    items: yield* changedIds("item_id", ["variants"]),
  };
  return changed;
});

/** Makes the shop what it was when `keepPristine` ran, given what has changed since. */
export const restorePristine = Effect.fn("pristineShop.restore")(function* (
  changed: ChangedRecords,
) {
  const sql = yield* SqlClient.SqlClient;
  const orders = sql.in("order_id", changed.orders);
  const users = sql.in("user_id", changed.users);
  const restore = Effect.gen(function* () {
    for (const table of writtenTo) yield* sql`DELETE FROM ${sql(`retail.${table}`)}`;
    // Items, payments and everything else of an order go with it.
    yield* sql`DELETE FROM retail.orders WHERE ${orders}`;
    for (const table of ["orders", "order_items", "order_payments"]) {
      yield* sql`INSERT INTO ${sql(`retail.${table}`)} SELECT * FROM ${sql(`retail_pristine.${table}`)} WHERE ${orders}`;
    }
    yield* sql`DELETE FROM retail.payment_methods WHERE ${users}`;
    yield* sql`INSERT INTO retail.payment_methods SELECT * FROM retail_pristine.payment_methods WHERE ${users}`;
    // Orders refer to their customer, so the row stays and its columns go back.
    yield* sql`UPDATE retail.customers c SET first_name = p.first_name, last_name = p.last_name, email = p.email,
        address = p.address, order_ids = p.order_ids, deleted_at = p.deleted_at
      FROM retail_pristine.customers p WHERE p.user_id = c.user_id AND c.user_id IN ${sql.in(changed.users.length === 0 ? [""] : changed.users)}`;
    yield* sql`DELETE FROM retail_pristine.touched`;
  });
  yield* sql.withTransaction(restore);
});
