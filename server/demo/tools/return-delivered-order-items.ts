import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderRecord } from "../data/records.ts";
import { applyOnce } from "../shop/apply-once.ts";
import { findCustomer, methodOf } from "../shop/customers.ts";
import { lockOrder, orderRecord } from "../shop/orders.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";
import { missingItem } from "../shop/replacements.ts";
import { differencePaymentMethodId, itemIds, orderId } from "./parameters.ts";

export const ReturnDeliveredOrderItems = Tool.make("return_delivered_order_items", {
  description:
    "Return some items of a delivered order. The order status will be changed to 'return requested'. The agent needs to explain the return detail and ask for explicit user confirmation (yes/no) to proceed. The user will receive follow-up email for how and where to return the item.",
  parameters: Schema.Struct({
    order_id: orderId,
    item_ids: itemIds(
      "The item ids to be returned, each such as '1008292230'. There could be duplicate items in the list.",
    ),
    payment_method_id: differencePaymentMethodId,
  }),
  success: OrderRecord,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "idempotent");

export const returnDeliveredOrderItems = Effect.fn("return_delivered_order_items")(function* ({
  order_id,
  item_ids,
  payment_method_id,
}: Tool.Parameters<typeof ReturnDeliveredOrderItems>) {
  const sql = yield* SqlClient.SqlClient;
  const giveBack = Effect.gen(function* () {
    const order = yield* lockOrder(order_id);
    if (order.status !== "delivered")
      return yield* refuse("non-delivered order cannot be returned");
    const method = yield* methodOf(yield* findCustomer(order.user_id), payment_method_id);
    if (
      method.source !== "gift_card" &&
      payment_method_id !== order.payments[0]?.payment_method_id
    ) {
      return yield* refuse(
        "payment method should be either the original payment method or a gift card",
      );
    }
    if (missingItem(order, item_ids) !== undefined) return yield* refuse("some item not found");
    yield* sql`UPDATE retail.orders SET status = 'return requested',
        return_items = ${[...item_ids].sort()}, return_payment_method_id = ${payment_method_id}
      WHERE order_id = ${order_id} AND status = 'delivered'`;
    return yield* orderRecord(order_id);
  });
  return yield* applyOnce(ReturnDeliveredOrderItems, giveBack);
});
