import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { approvalRule } from "#lib/tool-approval.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { UserRecord } from "../data/records.ts";
import { applyOnce } from "../shop/apply-once.ts";
import { findCustomer, toUserRecord } from "../shop/customers.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { describeAddress } from "./describe-address.ts";
import { addressFields, userId } from "./parameters.ts";

export const ModifyUserAddress = approvalRule(
  Tool.make("modify_user_address", {
    description:
      "Modify the default address of a user. The agent needs to explain the modification detail and ask for explicit user confirmation (yes/no) to proceed.",
    parameters: Schema.Struct({ user_id: userId, ...addressFields }),
    success: UserRecord,
    failure: RefusalText,
    failureMode: "return",
    needsApproval: true,
  })
    .annotate(ToolNamespace, "customers")
    .annotate(ToolExecutionClass, "idempotent"),
  {
    risk: "medium",
    summary: ({ user_id, ...address }) =>
      `Change the home address of ${user_id} to ${describeAddress(address)}`,
    targets: ({ user_id }) => [{ kind: "customer", id: user_id }],
    preview: (parameters) => ({ ...parameters }),
  },
);

export const modifyUserAddress = Effect.fn("modify_user_address")(function* ({
  user_id,
  ...address
}: Tool.Parameters<typeof ModifyUserAddress>) {
  const sql = yield* SqlClient.SqlClient;
  const change = Effect.gen(function* () {
    yield* findCustomer(user_id);
    yield* sql`UPDATE retail.customers SET address = ${JSON.stringify(address)}::jsonb
      WHERE user_id = ${user_id} AND deleted_at IS NULL`;
    return toUserRecord(yield* findCustomer(user_id));
  });
  return yield* applyOnce(ModifyUserAddress, change);
});
