import * as Tool from "effect/unstable/ai/Tool";
import type { FailureMode } from "#lib/contract/status.ts";

/** One registered tool, as it is configured; what a run did with it is another matter. */
export interface InspectedTool {
  readonly name: string;
  readonly failureMode: FailureMode;
  /** False for a tool that the provider executes: no local handler, no local failure mode (T-12). */
  readonly requiresHandler: boolean;
}

type HasTools = { readonly toolkit: { readonly tools: Record<string, Tool.Any> } };

/**
 * Reads the registered toolkit of a definition or binding without starting a
 * run or acquiring services; tools outside the current exposure included (T-12).
 */
export const inspectTools = (
  agent: HasTools | { readonly definition: HasTools },
): ReadonlyArray<InspectedTool> => {
  const { tools } = "definition" in agent ? agent.definition.toolkit : agent.toolkit;
  return Object.values(tools).map((tool) => ({
    name: tool.name,
    failureMode: tool.failureMode,
    requiresHandler: requiresHandler(tool),
  }));
};

/** Whether a local handler runs this tool's calls. */
export const requiresHandler = (tool: Tool.Any): boolean =>
  Tool.isProviderDefined(tool) ? tool.requiresHandler : true;
