import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderRecord } from "../data/records.ts";
import { applyOnce } from "../shop/apply-once.ts";
import { creditMethod, lockCustomer, methodOf } from "../shop/customers.ts";
import { appendPayments, lockOrder, orderRecord } from "../shop/orders.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

export const CancelPendingOrder = approvalRule(
  Tool.make("cancel_pending_order", {
    description:
      "Cancel a pending order. If the order is already processed or delivered, it cannot be cancelled. The agent needs to explain the cancellation detail and ask for explicit user confirmation (yes/no) to proceed. If the user confirms, the order status will be changed to 'cancelled' and the payment will be refunded. The refund will be added to the user's gift card balance immediately if the payment was made using a gift card, otherwise the refund would take 5-7 business days to process. The function returns the order details after the cancellation.",
    parameters: Schema.Struct({
      order_id: orderId,
      reason: Schema.Literals(["no longer needed", "ordered by mistake"]).annotate({
        description:
          "The reason for cancellation, which should be either 'no longer needed' or 'ordered by mistake'.",
      }),
    }),
    success: OrderRecord,
    failure: RefusalText,
    failureMode: "return",
    needsApproval: true,
  })
    .annotate(ToolNamespace, "orders")
    .annotate(ToolExecutionClass, "idempotent"),
  {
    risk: "high",
    summary: ({ order_id, reason }) =>
      `Cancel order ${order_id} (${reason}) and give back everything paid for it`,
    targets: ({ order_id }) => [{ kind: "order", id: order_id }],
    preview: (parameters) => ({ ...parameters }),
  },
);

export const cancelPendingOrder = Effect.fn("cancel_pending_order")(function* ({
  order_id,
  reason,
}: Tool.Parameters<typeof CancelPendingOrder>) {
  const sql = yield* SqlClient.SqlClient;
  const cancel = Effect.gen(function* () {
    const order = yield* lockOrder(order_id);
    const cancelled =
      yield* sql`UPDATE retail.orders SET status = 'cancelled', cancel_reason = ${reason}
      WHERE order_id = ${order_id} AND status = 'pending' RETURNING order_id`;
    if (cancelled.length === 0) return yield* refuse("non-pending order cannot be cancelled");
    const customer = yield* lockCustomer(order.user_id);
    for (const { payment_method_id, amount_cents } of order.payments) {
      const method = yield* methodOf(customer, payment_method_id);
      yield* creditMethod(order.user_id, method, amount_cents, "payment method not found");
    }
    yield* appendPayments(
      order,
      order.payments.map((line) => ({
        transaction_type: "refund" as const,
        cents: line.amount_cents,
        recordedAmount: line.recorded_amount,
        payment_method_id: line.payment_method_id,
      })),
    );
    return yield* orderRecord(order_id);
  });
  return yield* applyOnce(CancelPendingOrder, cancel);
});
