import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import { ToolExecutionClass } from "#lib/durable-step.ts";
import { DiscoveryTool, PinnedTool } from "#lib/tool-exposure.ts";

/** An ordinary tool with one text parameter. */
export const plain = (name: string): Tool.Any =>
  Tool.make(name, {
    description: `Does ${name}`,
    parameters: Schema.Struct({ id: Schema.String }),
    success: Schema.String,
  });

/** {@link plain}, pinned. */
export const pinned = (name: string): Tool.Any => plain(name).annotate(PinnedTool, true);

/** A readonly tool whose results select others. */
export const finder = (name: string): Tool.Any =>
  Tool.make(name, { success: Schema.Struct({ toolNames: Schema.Array(Schema.String) }) })
    .annotate(DiscoveryTool, true)
    .annotate(ToolExecutionClass, "readonly");

/** A toolkit's record of tools. */
export const toolRecord = (...tools: ReadonlyArray<Tool.Any>): Record<string, Tool.Any> =>
  Object.fromEntries(tools.map((tool) => [tool.name, tool]));
