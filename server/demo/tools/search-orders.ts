import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { OrderStatus } from "../data/records.ts";
import { findCustomer } from "../shop/customers.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { userId } from "./parameters.ts";

const FoundOrder = Schema.Struct({
  order_id: Schema.String,
  status: OrderStatus,
  items: Schema.Array(Schema.String),
});
const decodeFound = Schema.decodeUnknownEffect(Schema.Array(FoundOrder));

export const SearchOrders = Tool.make("search_orders", {
  description:
    "List a customer's orders with their status and the names of their items, optionally of one status only.",
  parameters: Schema.Struct({
    user_id: userId,
    status: Schema.optionalKey(
      OrderStatus.annotate({ description: "Only orders of this status." }),
    ),
  }),
  success: Schema.Array(FoundOrder),
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "readonly");

export const searchOrders = Effect.fn("search_orders")(function* ({
  user_id,
  status,
}: Tool.Parameters<typeof SearchOrders>) {
  const sql = yield* SqlClient.SqlClient;
  yield* findCustomer(user_id);
  return yield* decodeFound(
    yield* sql`SELECT o.order_id, o.status,
        (SELECT coalesce(array_agg(i.name ORDER BY i.position), '{}') FROM retail.order_items i WHERE i.order_id = o.order_id) AS items
      FROM retail.orders o
      WHERE o.user_id = ${user_id} AND (${status ?? null}::text IS NULL OR o.status = ${status ?? null}::text)
      ORDER BY o.order_id LIMIT 50`,
  );
});
