/** One tool, called once: what most rules about definitions need. */
import { Effect, Layer, Schema } from "effect";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import { text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import { watch } from "#tests/engine/run-agent.ts";

export const agentOf = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
  policy = {},
) =>
  Agent.make("definitions", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Go.",
    toolkit,
    policy,
  });

/** One tool, one call with these arguments, and what its handler and the model got. */
export const callOnce = <T extends Tool.Any>(
  tool: T,
  handle: (params: unknown) => Effect.Effect<unknown, unknown>,
  argumentsText: string,
) => {
  const toolkit = Toolkit.make(tool);
  // The handler's types are the tool's own, which a test over any tool cannot name.
  const layer = toolkit.toLayer({ [tool.name]: handle } as never) as unknown as Layer.Layer<
    Tool.HandlersFor<typeof toolkit.tools>
  >;
  return watch(agentOf(toolkit), layer, [
    toolCalls([{ id: "c1", name: tool.name, argumentsText }]),
    text("done"),
  ]);
};
