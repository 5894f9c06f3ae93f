/**
 * Which tools a tool's handler may call, as its declaration says, and what of
 * that holds for one call. Pure.
 */
import * as Context from "effect/Context";
import * as Result from "effect/Result";
import * as Tool from "effect/unstable/ai/Tool";
import { AgentDefinitionError } from "#lib/agent-error.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import { isDiscoveryTool } from "#lib/exposure/tool-annotations.ts";
import type { ProgrammaticToolNotAllowed } from "./broker-error.ts";

/** What a tool allows its program to call (CM-01). */
export interface ProgrammaticToolsOptions {
  /** Registered names of the same toolkit, 1 to 128 different ones. */
  readonly toolNames: ReadonlyArray<string>;
  /** Inner calls that one outer call may start: 1 to 1,000; default 64. */
  readonly maxCalls?: number;
}

/** Inner calls of one outer call where its tool says nothing else. */
export const defaultMaxProgrammaticCalls = 64;
/** Most inner calls that one outer call may ask for, refused ones included: what is recorded of it stays bounded. */
export const maxProgrammaticAttempts = 1_000;
const maxToolNames = 128;

/**
 * Tool annotation with the tools its handler may call through `ToolBroker`
 * (`CM-01`). Part of the tool's contract: no handler can widen it at run time, and
 * a call that was declared under another list is not run again (`DU-19`).
 *
 * ```ts
 * Tool.make("reconcile", { ... }).annotate(ProgrammaticTools, { toolNames: ["get_order", "add_note"] })
 * ```
 */
export const ProgrammaticTools = Context.Reference<ProgrammaticToolsOptions | undefined>(
  "effect-agent/tool-broker/ProgrammaticTools",
  { defaultValue: () => undefined },
);

/** What the tool's handler may call; undefined for a tool without inner calls. */
export const programmaticToolsOf = (
  tool: Tool.Any,
): Required<ProgrammaticToolsOptions> | undefined => {
  const options = Context.get(tool.annotations, ProgrammaticTools);
  return options === undefined
    ? undefined
    : {
        toolNames: options.toolNames,
        maxCalls: options.maxCalls ?? defaultMaxProgrammaticCalls,
      };
};

/** Finds lists that contradict the toolkit they stand in, before any run starts. */
export const checkProgrammaticTools = (
  agentName: string,
  tools: Readonly<Record<string, Tool.Any>>,
): Result.Result<void, AgentDefinitionError> => {
  for (const tool of Object.values(tools)) {
    const fault = faultOf(tool, tools);
    if (fault !== undefined) {
      return Result.fail(
        new AgentDefinitionError({
          agentName,
          toolName: tool.name,
          message: `The programmatic tools of ${tool.name} of agent ${agentName} ${fault}.`,
        }),
      );
    }
  }
  return Result.succeed(undefined);
};

const faultOf = (tool: Tool.Any, tools: Readonly<Record<string, Tool.Any>>): string | undefined => {
  const allowed = programmaticToolsOf(tool);
  if (allowed === undefined) return undefined;
  const { maxCalls, toolNames } = allowed;
  if (toolNames.length === 0 || toolNames.length > maxToolNames)
    return `must be 1 to ${maxToolNames} names; seen ${toolNames.length}`;
  if (new Set(toolNames).size < toolNames.length) return "name a tool twice";
  if (!Number.isInteger(maxCalls) || maxCalls < 1 || maxCalls > maxProgrammaticAttempts)
    return `must allow 1 to ${maxProgrammaticAttempts} calls; seen ${maxCalls}`;
  for (const name of toolNames) {
    const inner = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (inner === undefined)
      return `name ${JSON.stringify(name.slice(0, 128))}, which is not registered`;
    // One level: budgets, doubts and identities of calls in calls in calls would help nobody.
    if (programmaticToolsOf(inner) !== undefined)
      return `name ${name}, which has programmatic tools of its own`;
    // A readonly call leaves no mark and runs again freely; so must everything inside it (DU-05).
    if (executionClassOf(tool) === "readonly" && executionClassOf(inner) !== "readonly")
      return `name ${name}, which is ${executionClassOf(inner)}: a readonly tool may call readonly ones only`;
  }
  return undefined;
};

/** Why a program may not call this tool now; undefined when it may go on to its arguments (`CM-03`). */
export interface Ineligible {
  readonly reason: ProgrammaticToolNotAllowed["reason"];
  readonly message: string;
}

/**
 * @param visible names that visibility leaves to the run; undefined without a filter (`X-20`)
 */
export const ineligible = (
  outer: Tool.Any,
  toolName: string,
  tools: Readonly<Record<string, Tool.Any>>,
  visible: ReadonlyArray<string> | undefined,
): Ineligible | undefined => {
  const shown = JSON.stringify(toolName.slice(0, 128));
  if (programmaticToolsOf(outer)?.toolNames.includes(toolName) !== true)
    return {
      reason: "not-in-allowlist",
      message: `${outer.name} may not call ${shown}: it is not among its programmatic tools.`,
    };
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  if (tool === undefined)
    return { reason: "not-registered", message: `${shown} is no tool of this agent.` };
  if (visible !== undefined && !visible.includes(toolName))
    return { reason: "not-visible", message: `The tool ${toolName} is not visible to this run.` };
  // A rule that might ask a person counts as one that does: nobody can be asked in the middle of a program (CM-06).
  if (tool.needsApproval !== undefined && tool.needsApproval !== false)
    return {
      reason: "needs-approval",
      message: `The tool ${toolName} needs a person's approval and cannot be called by a program.`,
    };
  if (isDiscoveryTool(tool))
    return {
      reason: "selects-tools",
      message: `The tool ${toolName} selects what the model sees and cannot be called by a program.`,
    };
  return Tool.isProviderDefined(tool)
    ? {
        reason: "provider-executed",
        message: `The tool ${toolName} is executed by the model's provider and has no handler here.`,
      }
    : undefined;
};
