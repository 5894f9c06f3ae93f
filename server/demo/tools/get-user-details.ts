import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { PinnedTool, ToolNamespace } from "#lib/tool-exposure.ts";

import { UserRecord } from "../data/records.ts";
import { findCustomer, toUserRecord } from "../shop/customers.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { userId } from "./parameters.ts";

export const GetUserDetails = Tool.make("get_user_details", {
  description: "Get the details of a user, including their orders.",
  parameters: Schema.Struct({ user_id: userId }),
  success: UserRecord,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "customers")
  .annotate(PinnedTool, true)
  .annotate(ToolExecutionClass, "readonly");

export const getUserDetails = Effect.fn("get_user_details")(function* ({
  user_id,
}: Tool.Parameters<typeof GetUserDetails>) {
  return toUserRecord(yield* findCustomer(user_id));
});
