import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { reportAmount } from "../shop/report-amount.ts";

const Row = Schema.Struct({ user_id: Schema.String, orders: Schema.Int, spent: reportAmount });
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row));

export const ReportTopCustomers = Tool.make("report_top_customers", {
  description: "Report: the customers who spent the most, over all orders that were not cancelled.",
  parameters: Schema.Struct({
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })).annotate({
      description: "How many customers, 1 to 50.",
    }),
  }),
  success: Schema.Array(Row),
})
  .annotate(ToolNamespace, "reports")
  .annotate(ToolExecutionClass, "readonly");

export const reportTopCustomers = Effect.fn("report_top_customers")(function* ({
  limit,
}: Tool.Parameters<typeof ReportTopCustomers>) {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeRows(
    yield* sql`SELECT o.user_id, count(DISTINCT o.order_id)::integer AS orders,
        to_char(sum(i.price_cents) / 100.0, 'FM999999990.00') AS spent
      FROM retail.orders o JOIN retail.order_items i USING (order_id)
      WHERE o.status <> 'cancelled' GROUP BY o.user_id ORDER BY sum(i.price_cents) DESC, o.user_id LIMIT ${limit}`,
  );
});
