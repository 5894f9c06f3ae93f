import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { PinnedTool, ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderRecord } from "../data/records.ts";
import { orderRecord } from "../shop/orders.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

export const GetOrderDetails = Tool.make("get_order_details", {
  description: "Get the status and details of an order.",
  parameters: Schema.Struct({ order_id: orderId }),
  success: OrderRecord,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "orders")
  .annotate(PinnedTool, true)
  .annotate(ToolExecutionClass, "readonly");

export const getOrderDetails = Effect.fn("get_order_details")(
  ({ order_id }: Tool.Parameters<typeof GetOrderDetails>) => orderRecord(order_id),
);
