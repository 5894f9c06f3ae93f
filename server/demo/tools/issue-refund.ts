import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { CentsFromText, formatCents } from "../data/money.ts";
import { moveMoney } from "../shop/money-requests.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

/** Refunds above this need a person, in cents. */
export const approvalLimitCents = 10_000;

export const MoneyReceipt = Schema.Struct({
  provider_id: Schema.String,
  order_id: Schema.String,
  payment_method_id: Schema.String,
  amount: CentsFromText,
  outcome: Schema.Literal("completed"),
});

export const IssueRefund = approvalRule(
  Tool.make("issue_refund", {
    description:
      "Refund money for an order through the payment provider, at once. The payment method must be the one the order was paid with or a gift card of the customer. Refunds above 100.00 need the approval of a person; do not ask for it, it is arranged when the tool is called.",
    parameters: Schema.Struct({
      order_id: orderId,
      payment_method_id: Schema.String.annotate({
        description:
          "The payment method id that receives the money, such as 'credit_card_0000000', from the order's payment history.",
      }),
      amount: CentsFromText,
      reason: Schema.String.check(Schema.isMaxLength(500)).annotate({
        description: "Why the money goes back, in a few words.",
      }),
    }),
    success: MoneyReceipt,
    failure: RefusalText,
    failureMode: "return",
    needsApproval: ({ amount }) => amount > approvalLimitCents,
  })
    .annotate(ToolNamespace, "payments")
    .annotate(ToolExecutionClass, "uncertain"),
  {
    risk: "high",
    summary: ({ order_id, payment_method_id, amount, reason }) =>
      `Refund $${formatCents(amount)} for order ${order_id} to ${payment_method_id}; reason given: "${reason}"`,
    targets: ({ order_id, payment_method_id }) => [
      { kind: "order", id: order_id },
      { kind: "payment method", id: payment_method_id },
    ],
    preview: ({ amount, ...rest }) => ({ ...rest, amount: formatCents(amount) }),
  },
);

export const issueRefund = Effect.fn("issue_refund")(function* (
  parameters: Tool.Parameters<typeof IssueRefund>,
) {
  const { order_id, payment_method_id, amount, reason } = parameters;
  const entry = yield* moveMoney("refund", { order_id, payment_method_id, cents: amount, reason });
  return {
    provider_id: entry.entry_id,
    order_id,
    payment_method_id,
    amount: entry.amount,
    outcome: "completed" as const,
  };
});
