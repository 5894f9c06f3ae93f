import { Effect, Schema } from "effect";
import { Tool } from "effect/unstable/ai";

import { ToolExecutionClass } from "#lib/durable-step.ts";
import { ToolNamespace } from "#lib/tool-exposure.ts";

export const Think = Tool.make("think", {
  description:
    "Use the tool to think about something. It will not obtain new information or change the database, but just append the thought to the log. Use it when complex reasoning or some cache memory is needed.",
  parameters: Schema.Struct({
    thought: Schema.String.annotate({ description: "A thought to think about." }),
  }),
  success: Schema.String,
})
  .annotate(ToolNamespace, "customers")
  .annotate(ToolExecutionClass, "readonly");

/** The thought is in the record of the call; there is nothing to add to it. */
export const think = Effect.fn("think")((_: Tool.Parameters<typeof Think>) => Effect.succeed(""));
