import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderStatus } from "../data/records.ts";
import { reportAmount } from "../shop/report-amount.ts";

const Row = Schema.Struct({ status: OrderStatus, orders: Schema.Int, value: reportAmount });
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row));

export const ReportOrderStatuses = Tool.make("report_order_statuses", {
  description: "Report: how many orders there are of each status and what their items are worth.",
  parameters: Schema.Struct({
    status: Schema.optionalKey(
      OrderStatus.annotate({ description: "Only orders of this status." }),
    ),
  }),
  success: Schema.Array(Row),
})
  .annotate(ToolNamespace, "reports")
  .annotate(ToolExecutionClass, "readonly");

export const reportOrderStatuses = Effect.fn("report_order_statuses")(function* ({
  status,
}: Tool.Parameters<typeof ReportOrderStatuses>) {
  const sql = yield* SqlClient.SqlClient;
  return yield* decodeRows(
    yield* sql`SELECT o.status, count(DISTINCT o.order_id)::integer AS orders,
        to_char(coalesce(sum(i.price_cents), 0) / 100.0, 'FM999999990.00') AS value
      FROM retail.orders o LEFT JOIN retail.order_items i USING (order_id)
      WHERE ${status ?? null}::text IS NULL OR o.status = ${status ?? null}::text GROUP BY o.status ORDER BY o.status`,
  );
});
