import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { Cents, CentsFromText } from "../data/money.ts";
import { findOrder } from "../shop/orders.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

export const QuoteShipping = Tool.make("quote_shipping", {
  description: "What it costs to ship an order's items again, by speed.",
  parameters: Schema.Struct({
    order_id: orderId,
    speed: Schema.Literals(["standard", "express"]).annotate({
      description: "Standard takes 5 days, express 2.",
    }),
  }),
  success: Schema.Struct({
    order_id: Schema.String,
    speed: Schema.String,
    days: Schema.Int,
    price: CentsFromText,
  }),
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "shipping")
  .annotate(ToolExecutionClass, "readonly");

const tariff = {
  standard: { base: 495, perItem: 100, days: 5 },
  express: { base: 1295, perItem: 250, days: 2 },
};

export const quoteShipping = Effect.fn("quote_shipping")(function* ({
  order_id,
  speed,
}: Tool.Parameters<typeof QuoteShipping>) {
  const { items } = yield* findOrder(order_id);
  const { base, perItem, days } = tariff[speed];
  return { order_id, speed, days, price: Cents.make(base + perItem * items.length) };
});
