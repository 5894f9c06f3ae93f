import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderRecord } from "../data/records.ts";
import { applyOnce } from "../shop/apply-once.ts";
import { lockCustomer, methodOf } from "../shop/customers.ts";
import { lockOrder, orderRecord } from "../shop/orders.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";
import { planReplacements } from "../shop/replacements.ts";
import { differencePaymentMethodId, itemIds, orderId } from "./parameters.ts";

export const ExchangeDeliveredOrderItems = Tool.make("exchange_delivered_order_items", {
  description:
    "Exchange items in a delivered order to new items of the same product type. For a delivered order, return or exchange can be only done once by the agent. The agent needs to explain the exchange detail and ask for explicit user confirmation (yes/no) to proceed.",
  parameters: Schema.Struct({
    order_id: orderId,
    item_ids: itemIds(
      "The item ids to be exchanged, each such as '1008292230'. There could be duplicate items in the list.",
    ),
    new_item_ids: itemIds(
      "The item ids to be exchanged for, each such as '1008292230'. There could be duplicate items in the list. Each new item id should match the item id in the same position and be of the same product.",
    ),
    payment_method_id: differencePaymentMethodId,
  }),
  success: OrderRecord,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "idempotent");

export const exchangeDeliveredOrderItems = Effect.fn("exchange_delivered_order_items")(function* (
  parameters: Tool.Parameters<typeof ExchangeDeliveredOrderItems>,
) {
  const { order_id, payment_method_id } = parameters;
  const sql = yield* SqlClient.SqlClient;
  const exchange = Effect.gen(function* () {
    const order = yield* lockOrder(order_id);
    if (order.status !== "delivered")
      return yield* refuse("non-delivered order cannot be exchanged");
    const plan = yield* planReplacements(order, parameters.item_ids, parameters.new_item_ids);
    const method = yield* methodOf(yield* lockCustomer(order.user_id), payment_method_id);
    // The difference is settled when the goods come back, so it is checked here and not yet taken.
    if (method.balance_cents !== null && method.balance_cents < plan.differenceCents) {
      return yield* refuse("insufficient gift card balance to pay for the price difference");
    }
    yield* sql`UPDATE retail.orders SET status = 'exchange requested',
        exchange_items = ${[...parameters.item_ids].sort()}, exchange_new_items = ${[...parameters.new_item_ids].sort()},
        exchange_payment_method_id = ${payment_method_id}, exchange_price_difference_cents = ${plan.differenceCents}
      WHERE order_id = ${order_id} AND status = 'delivered'`;
    return yield* orderRecord(order_id);
  });
  return yield* applyOnce(ExchangeDeliveredOrderItems, exchange);
});
