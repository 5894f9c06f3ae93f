import * as Context from "effect/Context";
import type * as Tool from "effect/unstable/ai/Tool";

/**
 * The namespace a tool belongs to, for discovery's exact filter (D-05). Never guessed from a tool's name.
 *
 * ```ts
 * Tool.make("get_record", { ... }).annotate(ToolNamespace, "records")
 * ```
 */
export const ToolNamespace = Context.Reference<string | undefined>(
  "effect-agent/tool-exposure/ToolNamespace",
  { defaultValue: () => undefined },
);

/** `true` keeps an eligible tool exposed whatever is selected; it never makes a tool eligible. */
export const PinnedTool = Context.Reference<boolean>("effect-agent/tool-exposure/PinnedTool", {
  defaultValue: () => false,
});

/**
 * `true` marks a tool whose decoded result carries `toolNames`, registered names that replace the
 * non-pinned set (D-15, X-10). The tool must have the execution class `readonly`, and is mandatory.
 */
export const DiscoveryTool = Context.Reference<boolean>(
  "effect-agent/tool-exposure/DiscoveryTool",
  { defaultValue: () => false },
);

/** The namespace a tool declares, if any. */
export const namespaceOf = (tool: Tool.Any): string | undefined =>
  Context.get(tool.annotations, ToolNamespace);

/** Whether a tool is pinned. */
export const isPinned = (tool: Tool.Any): boolean => Context.get(tool.annotations, PinnedTool);

/** Whether a tool's results select tools. */
export const isDiscoveryTool = (tool: Tool.Any): boolean =>
  Context.get(tool.annotations, DiscoveryTool);
