/** Products and their variants in the `retail` tables. */
import { Effect, Schema } from "effect";
import { SqlClient } from "effect/unstable/sql";

import { amountOfCents } from "../data/money.ts";
import { ItemOptions, type ProductRecord } from "../data/records.ts";
import { refuse } from "./Refusal.ts";

const VariantRow = Schema.Struct({
  item_id: Schema.String,
  options: ItemOptions,
  available: Schema.Boolean,
  price_cents: Schema.Int,
});
const ProductRow = Schema.Struct({
  product_id: Schema.String,
  name: Schema.String,
  variants: Schema.Array(VariantRow),
});
const decodeProducts = Schema.decodeUnknownEffect(Schema.Array(ProductRow));
const decodeVariants = Schema.decodeUnknownEffect(Schema.Array(VariantRow));
const decodeNames = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ product_id: Schema.String, name: Schema.String })),
);

/** The product with all its variants, or the refusal "product not found". */
export const productRecord = Effect.fn("products.productRecord")(function* (productId: string) {
  const sql = yield* SqlClient.SqlClient;
  const rows = yield* sql`
    SELECT p.product_id, p.name,
      (SELECT coalesce(json_agg(json_build_object('item_id', v.item_id, 'options', v.options,
          'available', v.available, 'price_cents', v.price_cents) ORDER BY v.position), '[]'::json)
        FROM retail.variants v WHERE v.product_id = p.product_id) AS variants
    FROM retail.products p WHERE p.product_id = ${productId}`;
  const [row] = yield* decodeProducts(rows);
  if (row === undefined) return yield* refuse("product not found");
  const variants = row.variants.map(({ price_cents, ...variant }) => [
    variant.item_id,
    { ...variant, price: amountOfCents(price_cents) },
  ]);
  const record: ProductRecord = {
    name: row.name,
    product_id: row.product_id,
    variants: Object.fromEntries(variants),
  };
  return record;
});

/** Every product's name and id, by name. */
export const productNames = Effect.fn("products.productNames")(function* () {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeNames(
    yield* sql`SELECT product_id, name FROM retail.products ORDER BY name COLLATE "C"`,
  );
});

/** A variant of `productId` that can be ordered now, or a refusal that names the item. */
export const availableVariant = Effect.fn("products.availableVariant")(function* (
  productId: string,
  itemId: string,
) {
  const sql = yield* SqlClient.SqlClient;
  const rows = yield* sql`SELECT item_id, options, available, price_cents::integer AS price_cents
    FROM retail.variants WHERE product_id = ${productId} AND item_id = ${itemId} AND available`;
  const [row] = yield* decodeVariants(rows);
  return row ?? (yield* refuse(`new item ${itemId} not found or available`));
});
