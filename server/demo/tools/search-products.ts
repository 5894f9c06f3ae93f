import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

const FoundProduct = Schema.Struct({
  product_id: Schema.String,
  name: Schema.String,
  available_variants: Schema.Int,
});
const decodeFound = Schema.decodeUnknownEffect(Schema.Array(FoundProduct));

/** Text as a LIKE pattern that matches it literally. */
const literally = (text: string) => text.replace(/[\\%_]/g, (character) => `\\${character}`);

export const SearchProducts = Tool.make("search_products", {
  description: "Find products whose name contains some words.",
  parameters: Schema.Struct({
    query: Schema.NonEmptyString.check(Schema.isMaxLength(100)).annotate({
      description: "Part of the product's name, such as 'lamp'.",
    }),
  }),
  success: Schema.Array(FoundProduct),
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "readonly");

export const searchProducts = Effect.fn("search_products")(function* ({
  query,
}: Tool.Parameters<typeof SearchProducts>) {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeFound(
    yield* sql`SELECT p.product_id, p.name,
        (SELECT count(*)::integer FROM retail.variants v WHERE v.product_id = p.product_id AND v.available) AS available_variants
      FROM retail.products p WHERE p.name ILIKE ${`%${literally(query)}%`} ORDER BY p.name LIMIT 20`,
  );
});
