import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { productNames } from "../shop/products.ts";

export const ListAllProductTypes = Tool.make("list_all_product_types", {
  description:
    "List the name and product id of all product types. Each product type has a variety of different items with unique item ids and options. There are only 50 product types in the store.",
  success: Schema.Record(Schema.String, Schema.String),
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "readonly");

export const listAllProductTypes = Effect.fn("list_all_product_types")(function* () {
  const names = yield* productNames();
  return Object.fromEntries(names.map(({ name, product_id }) => [name, product_id]));
});
