import * as Predicate from "effect/Predicate";
import * as Result from "effect/Result";
import type * as Tool from "effect/unstable/ai/Tool";
import { ModelProtocolError } from "#lib/agent-error.ts";
import type { ActiveSelection } from "./resolve-exposure.ts";
import { maxSelectionNames } from "./selection.ts";
import { isDiscoveryTool } from "./tool-annotations.ts";

/**
 * Reads the selection out of a discovery tool's decoded success, before the result is bounded (D-15, X-12).
 * Duplicates count once. Every name must be a registered tool.
 *
 * @param call names the call in the error
 * @param decoded the handler's decoded success value
 * @returns the names, or `ModelProtocolError` `invalid-selection`
 */
export const readSelection = (
  call: { readonly toolCallId: string; readonly toolName: string },
  decoded: unknown,
  tools: Readonly<Record<string, Tool.Any>>,
): Result.Result<ReadonlyArray<string>, ModelProtocolError> => {
  const refuse = (what: string): Result.Result<never, ModelProtocolError> =>
    Result.fail(
      new ModelProtocolError({
        reason: "invalid-selection",
        ...call,
        message: `The discovery tool ${JSON.stringify(call.toolName)} ${what}`,
      }),
    );
  if (!Predicate.hasProperty(decoded, "toolNames") || !Array.isArray(decoded.toolNames)) {
    return refuse("returned no toolNames list.");
  }
  const toolNames: ReadonlyArray<unknown> = decoded.toolNames;
  if (toolNames.length > maxSelectionNames) {
    return refuse(`selected ${toolNames.length} tools; at most ${maxSelectionNames} are allowed.`);
  }
  const selected = new Set<string>();
  for (const name of toolNames) {
    if (typeof name !== "string") return refuse("returned a tool name that is no text.");
    if (!Object.hasOwn(tools, name)) {
      return refuse(
        `selected ${JSON.stringify(name.slice(0, 128))}, which is not a registered tool.`,
      );
    }
    selected.add(name);
  }
  return Result.succeed(Array.from(selected));
};

/** One settled call of a batch, as far as selection is concerned. */
export interface SettledSelection {
  readonly isFailure: boolean;
  /** What {@link readSelection} gave; left out for a call of an ordinary tool. */
  readonly selection?: ReadonlyArray<string> | undefined;
}

/**
 * The selection in force after a complete batch: the last successful one in declaration order replaces the
 * previous one, an empty one clears it, and a failed call changes nothing.
 *
 * @param settled every call of the batch, in declaration order, not in the order they finished
 */
export const selectionAfterBatch = (
  previous: ActiveSelection | undefined,
  settled: ReadonlyArray<SettledSelection>,
): ActiveSelection | undefined => {
  const last = settled.findLast((call) => !call.isFailure && call.selection !== undefined);
  if (last?.selection === undefined) return previous;
  return last.selection.length === 0
    ? { source: "cleared", toolNames: [] }
    : { source: "discovery", toolNames: last.selection };
};

/** Whether results of this tool select, so that {@link readSelection} applies to them. */
export const selects = (tool: Tool.Any): boolean => isDiscoveryTool(tool);
