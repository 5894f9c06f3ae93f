import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";
import { SqlClient } from "effect/unstable/sql";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

import { applyOnce } from "../shop/apply-once.ts";

export const TransferToHumanAgents = Tool.make("transfer_to_human_agents", {
  description:
    "Transfer the user to a human agent, with a summary of the user's issue. Only transfer if the user explicitly asks for a human agent, or if the user's issue cannot be resolved by the agent with the available tools.",
  parameters: Schema.Struct({
    summary: Schema.String.annotate({ description: "A summary of the user's issue." }),
  }),
  success: Schema.String,
})
  .annotate(ToolNamespace, "customers")
  .annotate(ToolExecutionClass, "idempotent");

export const transferToHumanAgents = Effect.fn("transfer_to_human_agents")(function* ({
  summary,
}: Tool.Parameters<typeof TransferToHumanAgents>) {
  const sql = yield* SqlClient.SqlClient;
  const transfer = Effect.gen(function* () {
    yield* sql`INSERT INTO retail.transfers (summary) VALUES (${summary})`;
    return "Transfer successful";
  });
  return yield* applyOnce(TransferToHumanAgents, transfer);
});
