import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { applyOnce } from "../shop/apply-once.ts";
import { findOrder } from "../shop/orders.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { orderId } from "./parameters.ts";

export const AddOrderNote = Tool.make("add_order_note", {
  description: "Keep an internal note with an order, for colleagues; the customer does not see it.",
  parameters: Schema.Struct({
    order_id: orderId,
    text: Schema.NonEmptyString.check(Schema.isMaxLength(2_000)).annotate({
      description: "The note.",
    }),
  }),
  success: Schema.String,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "orders")
  .annotate(ToolExecutionClass, "idempotent");

export const addOrderNote = Effect.fn("add_order_note")(function* ({
  order_id,
  text,
}: Tool.Parameters<typeof AddOrderNote>) {
  const sql = yield* SqlClient.SqlClient;
  const add = Effect.gen(function* () {
    yield* findOrder(order_id);
    yield* sql`INSERT INTO retail.notes (about, about_id, text) VALUES ('order', ${order_id}, ${text})`;
    return `Note kept with order ${order_id}`;
  });
  return yield* applyOnce(AddOrderNote, add);
});
