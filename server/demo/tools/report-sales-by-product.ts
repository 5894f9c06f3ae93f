import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { reportAmount } from "../shop/report-amount.ts";

const Row = Schema.Struct({ name: Schema.String, items_sold: Schema.Int, revenue: reportAmount });
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row));

export const ReportSalesByProduct = Tool.make("report_sales_by_product", {
  description:
    "Report: the best selling products by revenue, over all orders that were not cancelled.",
  parameters: Schema.Struct({
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })).annotate({
      description: "How many products, 1 to 50.",
    }),
  }),
  success: Schema.Array(Row),
})
  .annotate(ToolNamespace, "reports")
  .annotate(ToolExecutionClass, "readonly");

export const reportSalesByProduct = Effect.fn("report_sales_by_product")(function* ({
  limit,
}: Tool.Parameters<typeof ReportSalesByProduct>) {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeRows(
    yield* sql`SELECT i.name, count(*)::integer AS items_sold, to_char(sum(i.price_cents) / 100.0, 'FM999999990.00') AS revenue
      FROM retail.order_items i JOIN retail.orders o USING (order_id)
      WHERE o.status <> 'cancelled' GROUP BY i.name ORDER BY sum(i.price_cents) DESC, i.name LIMIT ${limit}`,
  );
});
