import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { CentsFromText, formatCents } from "../data/money.ts";
import { moveMoney } from "../shop/money-requests.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { MoneyReceipt } from "./issue-refund.ts";
import { orderId } from "./parameters.ts";

export const ChargePaymentMethod = approvalRule(
  Tool.make("charge_payment_method", {
    description:
      "Charge a customer's payment method for an order through the payment provider. Always needs the approval of a person, which is arranged when the tool is called.",
    parameters: Schema.Struct({
      order_id: orderId,
      payment_method_id: Schema.String.annotate({
        description: "One of the customer's payment method ids, such as 'credit_card_0000000'.",
      }),
      amount: CentsFromText,
      reason: Schema.String.check(Schema.isMaxLength(500)).annotate({
        description: "What is charged for, in a few words.",
      }),
    }),
    success: MoneyReceipt,
    failure: RefusalText,
    failureMode: "return",
    needsApproval: true,
  })
    .annotate(ToolNamespace, "payments")
    .annotate(ToolExecutionClass, "uncertain"),
  {
    risk: "critical",
    summary: ({ order_id, payment_method_id, amount, reason }) =>
      `Charge $${formatCents(amount)} to ${payment_method_id} for order ${order_id}; reason given: "${reason}"`,
    targets: ({ order_id, payment_method_id }) => [
      { kind: "order", id: order_id },
      { kind: "payment method", id: payment_method_id },
    ],
    preview: ({ amount, ...rest }) => ({ ...rest, amount: formatCents(amount) }),
    denial: "terminal",
  },
);

export const chargePaymentMethod = Effect.fn("charge_payment_method")(function* ({
  order_id,
  payment_method_id,
  amount,
  reason,
}: Tool.Parameters<typeof ChargePaymentMethod>) {
  const entry = yield* moveMoney("charge", { order_id, payment_method_id, cents: amount, reason });
  return {
    provider_id: entry.entry_id,
    order_id,
    payment_method_id,
    amount: entry.amount,
    outcome: "completed" as const,
  };
});
