import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { PinnedTool, ToolNamespace } from "#lib/tool-exposure.ts";

import { findIdsByEmail } from "../shop/customers.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";

export const FindUserIdByEmail = Tool.make("find_user_id_by_email", {
  description:
    "Find user id by email. If the user is not found, the function will return an error message.",
  parameters: Schema.Struct({
    email: Schema.String.annotate({
      description: "The email of the user, such as 'something@example.com'.",
    }),
  }),
  success: Schema.String,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "customers")
  .annotate(PinnedTool, true)
  .annotate(ToolExecutionClass, "readonly");

export const findUserIdByEmail = Effect.fn("find_user_id_by_email")(function* ({
  email,
}: Tool.Parameters<typeof FindUserIdByEmail>) {
  const [found] = yield* findIdsByEmail(email);
  return found === undefined ? yield* refuse("user not found") : found.user_id;
});
