/** Money that leaves or comes in through the payment provider. */
import { textsPreview } from "./read-preview.ts";

const names = ["order_id", "payment_method_id", "amount", "reason"] as const;
const dollars = /^(?:0|[1-9]\d{0,6})\.\d{2}$/;

const moved = (to: string) =>
  textsPreview(names, ({ amount, order_id, payment_method_id, reason }) =>
    dollars.test(amount)
      ? [
          { name: "Amount", value: `$${amount}`, main: true },
          { name: "Order", value: order_id },
          { name: to, value: payment_method_id },
          { name: "Reason given", value: reason },
        ]
      : `"amount" is no sum in dollars and cents`,
  );

export const refundPreview = moved("Paid back to");
export const chargePreview = moved("Charged to");
