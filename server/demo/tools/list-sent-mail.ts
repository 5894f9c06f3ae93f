import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { findCustomer } from "../shop/customers.ts";
import { RefusalText } from "../shop/Refusal.ts";
import { userId } from "./parameters.ts";

const SentMail = Schema.Struct({
  subject: Schema.String,
  body: Schema.String,
  created_at: Schema.String,
});
const decodeMail = Schema.decodeUnknownEffect(Schema.Array(SentMail));

export const ListSentMail = Tool.make("list_sent_mail", {
  description: "The last e-mails that the shop sent to a customer, newest first.",
  parameters: Schema.Struct({ user_id: userId }),
  success: Schema.Array(SentMail),
  failure: RefusalText,
  failureMode: "return",
})
  .annotate(ToolNamespace, "mail")
  .annotate(ToolExecutionClass, "readonly");

export const listSentMail = Effect.fn("list_sent_mail")(function* ({
  user_id,
}: Tool.Parameters<typeof ListSentMail>) {
  const sql = yield* SqlClient.SqlClient;
  yield* findCustomer(user_id);
  return yield* decodeMail(
    yield* sql`SELECT subject, body, created_at::text AS created_at FROM retail.outbox
      WHERE user_id = ${user_id} ORDER BY retail.outbox.created_at DESC LIMIT 20`,
  );
});
