import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderRecord } from "../data/records.ts";
import { applyOnce } from "../shop/apply-once.ts";
import { creditMethod, lockCustomer, methodOf } from "../shop/customers.ts";
import { appendPayments, lockOrder, orderRecord } from "../shop/orders.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";
import { planReplacements } from "../shop/replacements.ts";
import { differencePaymentMethodId, itemIds, orderId } from "./parameters.ts";

export const ModifyPendingOrderItems = Tool.make("modify_pending_order_items", {
  description:
    "Modify items in a pending order to new items of the same product type. For a pending order, this function can only be called once. The agent needs to explain the exchange detail and ask for explicit user confirmation (yes/no) to proceed.",
  parameters: Schema.Struct({
    order_id: orderId,
    item_ids: itemIds(
      "The item ids to be modified, each such as '1008292230'. There could be duplicate items in the list.",
    ),
    new_item_ids: itemIds(
      "The item ids to be modified for, each such as '1008292230'. There could be duplicate items in the list. Each new item id should match the item id in the same position and be of the same product.",
    ),
    payment_method_id: differencePaymentMethodId,
  }),
  success: OrderRecord,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "idempotent");

const insufficient = "insufficient gift card balance to pay for the new item";

export const modifyPendingOrderItems = Effect.fn("modify_pending_order_items")(function* (
  parameters: Tool.Parameters<typeof ModifyPendingOrderItems>,
) {
  const { order_id, payment_method_id } = parameters;
  const sql = yield* SqlClient.SqlClient;
  const change = Effect.gen(function* () {
    const order = yield* lockOrder(order_id);
    if (order.status !== "pending") return yield* refuse("non-pending order cannot be modified");
    const plan = yield* planReplacements(order, parameters.item_ids, parameters.new_item_ids);
    const customer = yield* lockCustomer(order.user_id);
    const method = yield* methodOf(customer, payment_method_id);
    yield* creditMethod(order.user_id, method, -plan.differenceCents, insufficient);
    yield* appendPayments(order, [
      {
        transaction_type: plan.differenceCents > 0 ? "payment" : "refund",
        cents: Math.abs(plan.differenceCents),
        recordedAmount: Math.abs(plan.recordedDifference),
        payment_method_id,
      },
    ]);
    for (const { from, to } of plan.replacements) {
      yield* sql`UPDATE retail.order_items
        SET item_id = ${to.item_id}, price_cents = ${to.price_cents}, options = ${JSON.stringify(to.options)}::json
        WHERE order_id = ${order_id} AND position =
          (SELECT min(position) FROM retail.order_items WHERE order_id = ${order_id} AND item_id = ${from})`;
    }
    yield* sql`UPDATE retail.orders SET status = 'pending (item modified)' WHERE order_id = ${order_id} AND status = 'pending'`;
    return yield* orderRecord(order_id);
  });
  return yield* applyOnce(ModifyPendingOrderItems, change);
});
