import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { findIdsByNameAndZip } from "../shop/customers.ts";
import { refuse, RefusalText } from "../shop/Refusal.ts";

export const FindUserIdByNameZip = Tool.make("find_user_id_by_name_zip", {
  description:
    "Find user id by first name, last name, and zip code. If the user is not found, the function will return an error message. By default, find user id by email, and only call this function if the user is not found by email or cannot remember email.",
  parameters: Schema.Struct({
    first_name: Schema.String.annotate({
      description: "The first name of the customer, such as 'John'.",
    }),
    last_name: Schema.String.annotate({
      description: "The last name of the customer, such as 'Doe'.",
    }),
    zip: Schema.String.annotate({ description: "The zip code of the customer, such as '12345'." }),
  }),
  success: Schema.String,
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "customers")
  .annotate(ToolExecutionClass, "readonly");

export const findUserIdByNameZip = Effect.fn("find_user_id_by_name_zip")(function* ({
  first_name,
  last_name,
  zip,
}: Tool.Parameters<typeof FindUserIdByNameZip>) {
  const [found] = yield* findIdsByNameAndZip(first_name, last_name, zip);
  return found === undefined ? yield* refuse("user not found") : found.user_id;
});
