import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { Fulfillment, OrderStatus } from "../data/records.ts";
import { findOrder } from "../shop/orders.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

export const TrackShipment = Tool.make("track_shipment", {
  description: "Where an order's parcels are: their tracking numbers and what is in them.",
  parameters: Schema.Struct({ order_id: orderId }),
  success: Schema.Struct({
    order_id: Schema.String,
    status: OrderStatus,
    whereabouts: Schema.String,
    parcels: Schema.Array(Fulfillment),
  }),
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "shipping")
  .annotate(ToolExecutionClass, "readonly");

const whereabouts = (status: typeof OrderStatus.Type, parcels: number): string => {
  switch (status) {
    case "pending":
    case "pending (item modified)":
      return "not shipped yet";
    case "processed":
      return parcels === 0 ? "being packed" : "on its way";
    case "delivered":
    case "return requested":
    case "exchange requested":
      return "delivered";
    case "cancelled":
      return "cancelled, nothing was shipped";
  }
};

export const trackShipment = Effect.fn("track_shipment")(function* ({
  order_id,
}: Tool.Parameters<typeof TrackShipment>) {
  const { status, fulfillments } = yield* findOrder(order_id);
  return {
    order_id,
    status,
    whereabouts: whereabouts(status, fulfillments.length),
    parcels: fulfillments,
  };
});
