import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { ProductRecord } from "../data/records.ts";
import { productRecord } from "../shop/products.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { productId } from "./parameters.ts";

export const GetProductDetails = Tool.make("get_product_details", {
  description: "Get the inventory details of a product.",
  parameters: Schema.Struct({ product_id: productId }),
  success: ProductRecord,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "readonly");

export const getProductDetails = Effect.fn("get_product_details")(
  ({ product_id }: Tool.Parameters<typeof GetProductDetails>) => productRecord(product_id),
);
