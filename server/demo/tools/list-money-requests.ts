import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { CentsFromText, formatCents } from "../data/money.ts";
import { findOrder } from "../shop/orders.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

const MoneyRequestLine = Schema.Struct({
  kind: Schema.Literals(["refund", "charge"]),
  amount: CentsFromText,
  payment_method_id: Schema.String,
  state: Schema.Literals(["requested", "completed", "declined", "not sent"]),
  reason: Schema.String,
  requested_at: Schema.String,
});
const Row = Schema.Struct({
  kind: Schema.String,
  amount_cents: Schema.Int,
  payment_method_id: Schema.String,
  state: Schema.String,
  reason: Schema.String,
  requested_at: Schema.String,
});
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row));
const decodeLine = Schema.decodeUnknownEffect(MoneyRequestLine);

export const ListMoneyRequests = Tool.make("list_money_requests", {
  description:
    "List refunds and charges that were asked of the payment provider for an order, newest first. The state 'requested' means that no answer has come yet.",
  parameters: Schema.Struct({ order_id: orderId }),
  success: Schema.Array(MoneyRequestLine),
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "payments")
  .annotate(ToolExecutionClass, "readonly");

export const listMoneyRequests = Effect.fn("list_money_requests")(function* ({
  order_id,
}: Tool.Parameters<typeof ListMoneyRequests>) {
  const sql = yield* SqlClient.SqlClient;
  yield* findOrder(order_id);
  const rows = yield* decodeRows(
    yield* sql`SELECT kind, amount_cents::integer AS amount_cents, payment_method_id, state, reason, requested_at::text AS requested_at
      FROM retail.provider_requests WHERE order_id = ${order_id} ORDER BY requested_at DESC LIMIT 50`,
  );
  return yield* Effect.forEach(rows, ({ amount_cents, ...row }) =>
    decodeLine({ ...row, amount: formatCents(amount_cents) }),
  );
});
