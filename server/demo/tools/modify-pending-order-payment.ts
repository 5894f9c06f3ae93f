import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderRecord } from "../data/records.ts";
import { applyOnce } from "../shop/apply-once.ts";
import { creditMethod, lockCustomer, methodOf } from "../shop/customers.ts";
import { appendPayments, lockOrder, orderRecord } from "../shop/orders.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";
import { differencePaymentMethodId, orderId } from "./parameters.ts";

export const ModifyPendingOrderPayment = Tool.make("modify_pending_order_payment", {
  description:
    "Modify the payment method of a pending order. The agent needs to explain the modification detail and ask for explicit user confirmation (yes/no) to proceed.",
  parameters: Schema.Struct({ order_id: orderId, payment_method_id: differencePaymentMethodId }),
  success: OrderRecord,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "payments")
  .annotate(ToolExecutionClass, "idempotent");

const insufficient = "insufficient gift card balance to pay for the order";

export const modifyPendingOrderPayment = Effect.fn("modify_pending_order_payment")(function* ({
  order_id,
  payment_method_id,
}: Tool.Parameters<typeof ModifyPendingOrderPayment>) {
  const change = Effect.gen(function* () {
    const order = yield* lockOrder(order_id);
    if (order.status !== "pending") return yield* refuse("non-pending order cannot be modified");
    const customer = yield* lockCustomer(order.user_id);
    const method = yield* methodOf(customer, payment_method_id);
    const [payment, second] = order.payments;
    if (payment === undefined || second !== undefined || payment.transaction_type !== "payment") {
      return yield* refuse("there should be exactly one payment for a pending order");
    }
    if (payment.payment_method_id === payment_method_id) {
      return yield* refuse("the new payment method should be different from the current one");
    }
    yield* creditMethod(order.user_id, method, -payment.amount_cents, insufficient);
    const previous = yield* methodOf(customer, payment.payment_method_id);
    yield* creditMethod(order.user_id, previous, payment.amount_cents, insufficient);
    const amounts = { cents: payment.amount_cents, recordedAmount: payment.recorded_amount };
    yield* appendPayments(order, [
      { transaction_type: "payment", ...amounts, payment_method_id },
      { transaction_type: "refund", ...amounts, payment_method_id: payment.payment_method_id },
    ]);
    return yield* orderRecord(order_id);
  });
  return yield* applyOnce(ModifyPendingOrderPayment, change);
});
