import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { applyOnce } from "../shop/apply-once.ts";
import { findCustomer } from "../shop/customers.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { userId } from "./parameters.ts";

export const AddCustomerNote = Tool.make("add_customer_note", {
  description:
    "Keep an internal note with a customer, for colleagues; the customer does not see it.",
  parameters: Schema.Struct({
    user_id: userId,
    text: Schema.NonEmptyString.check(Schema.isMaxLength(2_000)).annotate({
      description: "The note.",
    }),
  }),
  success: Schema.String,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "customers")
  .annotate(ToolExecutionClass, "idempotent");

export const addCustomerNote = Effect.fn("add_customer_note")(function* ({
  user_id,
  text,
}: Tool.Parameters<typeof AddCustomerNote>) {
  const sql = yield* SqlClient.SqlClient;
  const add = Effect.gen(function* () {
    yield* findCustomer(user_id);
    yield* sql`INSERT INTO retail.notes (about, about_id, text) VALUES ('customer', ${user_id}, ${text})`;
    return `Note kept with customer ${user_id}`;
  });
  return yield* applyOnce(AddCustomerNote, add);
});
