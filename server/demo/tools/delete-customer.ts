import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { applyOnce } from "../shop/apply-once.ts";
import { findCustomer } from "../shop/customers.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { userId } from "./parameters.ts";

/** The tool works; the desk's policy (`../policy.ts`) denies every call of it. */
export const DeleteCustomer = Tool.make("delete_customer", {
  description: "Delete a customer's account for good.",
  parameters: Schema.Struct({ user_id: userId }),
  success: Schema.String,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "customers")
  .annotate(ToolExecutionClass, "idempotent");

export const deleteCustomer = Effect.fn("delete_customer")(function* ({
  user_id,
}: Tool.Parameters<typeof DeleteCustomer>) {
  const sql = yield* SqlClient.SqlClient;
  const erase = Effect.gen(function* () {
    yield* findCustomer(user_id);
    yield* sql`UPDATE retail.customers SET deleted_at = now() WHERE user_id = ${user_id} AND deleted_at IS NULL`;
    return `Customer ${user_id} is deleted`;
  });
  return yield* applyOnce(DeleteCustomer, erase);
});
