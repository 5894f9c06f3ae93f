import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { PinnedTool, ToolNamespace } from "#lib/tool-exposure.ts";

import { applyOnce } from "../shop/apply-once.ts";
import { findCustomer } from "../shop/customers.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { userId } from "./parameters.ts";

export const SendEmail = Tool.make("send_email", {
  description: "Send an e-mail to a customer's own address. Goes out once.",
  parameters: Schema.Struct({
    user_id: userId,
    subject: Schema.NonEmptyString.check(Schema.isMaxLength(200)).annotate({
      description: "The subject line.",
    }),
    body: Schema.NonEmptyString.check(Schema.isMaxLength(10_000)).annotate({
      description: "The text of the e-mail.",
    }),
  }),
  success: Schema.Struct({ recipient: Schema.String, subject: Schema.String }),
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "mail")
  .annotate(PinnedTool, true)
  .annotate(ToolExecutionClass, "idempotent");

export const sendEmail = Effect.fn("send_email")(function* ({
  user_id,
  subject,
  body,
}: Tool.Parameters<typeof SendEmail>) {
  const sql = yield* SqlClient.SqlClient;
  const send = Effect.gen(function* () {
    const { email } = yield* findCustomer(user_id);
    yield* sql`INSERT INTO retail.outbox (user_id, recipient, subject, body) VALUES (${user_id}, ${email}, ${subject}, ${body})`;
    return { recipient: email, subject };
  });
  return yield* applyOnce(SendEmail, send);
});
