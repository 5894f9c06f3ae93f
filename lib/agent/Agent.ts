/**
 * Agents as schema-defined programs: an input, an output, instructions and a
 * toolkit of Effect AI's own tools (T-01). A definition holds no services and
 * starts nothing; `AgentRuntime` interprets it.
 */
import type * as Duration from "effect/Duration";
import * as Result from "effect/Result";
import type * as Layer from "effect/Layer";
import type * as Schema from "effect/Schema";
import type * as Tool from "effect/unstable/ai/Tool";
import type * as Toolkit from "effect/unstable/ai/Toolkit";
import { AgentDefinitionError } from "#lib/agent-error.ts";
import { checkProgrammaticTools } from "#lib/broker/programmatic-tools.ts";
import { AgentId } from "#lib/contract/ids.ts";
import { carriesDiagnostic } from "#lib/failure-diagnostic.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import {
  isDiscoveryTool,
  resolveExposureConfig,
  type ToolExposureConfig,
  type ToolExposureOptions,
} from "#lib/tool-exposure.ts";
import { requiresHandler } from "./inspect-tools.ts";
import { resolveRunPolicy, type RunPolicy, type RunPolicyOptions } from "./policy.ts";

/** A codec whose services are none: inputs and outputs cross process boundaries. */
export type DataSchema<Type = unknown> = Schema.ConstraintCodec<Type, unknown>;

/** The tool through which an agent answers. */
export interface CompletionTool {
  readonly toolName: string;
  /** Text is no answer: the tool is in every request, and the model must call something in each. */
  readonly required: boolean;
}

/** An agent as declared; equal definitions have equal digests (DU-19). */
export interface Definition<
  out Input extends DataSchema = DataSchema,
  out Output extends DataSchema = DataSchema,
  out Tools extends Record<string, Tool.Any> = Record<string, Tool.Any>,
> {
  readonly id: AgentId;
  readonly input: Input;
  readonly output: Output;
  readonly instructions: string;
  readonly toolkit: Toolkit.Any & { readonly tools: Tools };
  readonly policy: RunPolicy;
  /** Absent: every registered tool is offered at once. */
  readonly toolExposure: ToolExposureConfig | undefined;
  /** How long approval requests stay open where the tool says nothing; absent: 24 hours. */
  readonly approvalExpiresAfter: Duration.Input | "never" | undefined;
  /** Absent: the final text is the answer. */
  readonly completion: CompletionTool | undefined;
}

/** A definition with the layer that builds its handlers: what a durable host registers. */
export interface Binding<
  Input extends DataSchema = DataSchema,
  Output extends DataSchema = DataSchema,
  Tools extends Record<string, Tool.Any> = Record<string, Tool.Any>,
  E = unknown,
  R = never,
> {
  readonly definition: Definition<Input, Output, Tools>;
  readonly handlers: Layer.Layer<Tool.HandlersFor<Tools>, E, R>;
}

/** What an author says of an agent; everything beyond input, output, instructions and toolkit has a default. */
export interface AgentOptions<
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
> {
  readonly input: Input;
  /** The final answer: JSON text of this schema's encoded side; plain text when that side is a string. */
  readonly output: Output;
  /** 1 to 100,000 characters; the system part of every prompt. */
  readonly instructions: string;
  readonly toolkit: Toolkit.Toolkit<Tools>;
  /** Limits and the first selection of tools; absent without a discovery tool: all tools at once. */
  readonly toolExposure?: ToolExposureOptions;
  readonly policy?: RunPolicyOptions;
  /** How long approval requests of tools without an expiry of their own stay open; default 24 hours. */
  readonly approvalExpiresAfter?: Duration.Input | "never";
  /**
   * The tool whose successful call is the answer, in place of a final text: its
   * encoded result is read as `output` once its whole batch is complete, and of
   * several the last in declaration order. It is an ordinary tool otherwise, under
   * approval and policy, and all that a constrained last answer may call.
   * With `required` a text is no answer; default false.
   */
  readonly completion?: {
    readonly toolName: keyof Tools & string;
    readonly required?: boolean;
  };
}

/**
 * Defines an agent. A definition that contradicts itself is a bug of its author
 * and is thrown at once as `AgentDefinitionError`: an unregistered initial tool
 * a completion that no handler here runs, a discovery tool that is not readonly (D-15), programmatic tools that do
 * not fit (CM-01), a policy out of bounds.
 *
 * @param name 1 to 128 characters of `[A-Za-z0-9._~-]`
 */
export const make = <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
>(
  name: string,
  options: AgentOptions<Input, Output, Tools>,
): Definition<Input, Output, Tools> => {
  const tools: Record<string, Tool.Any> = options.toolkit.tools;
  if (options.instructions.length === 0 || options.instructions.length > 100_000) {
    throw new AgentDefinitionError({
      agentName: name,
      message: `The instructions of agent ${name} must have 1 to 100,000 characters; seen ${options.instructions.length}.`,
    });
  }
  for (const tool of Object.values(tools)) {
    if (isDiscoveryTool(tool) && executionClassOf(tool) !== "readonly") {
      throw new AgentDefinitionError({
        agentName: name,
        toolName: tool.name,
        message: `The discovery tool ${tool.name} of agent ${name} must have the execution class "readonly"; it has "${executionClassOf(tool)}".`,
      });
    }
  }
  for (const tool of Object.values(tools)) {
    // Private evidence must never become what a model reads (DX-08).
    if (tool.failureMode === "return" && carriesDiagnostic(tool.failureSchema)) {
      throw new AgentDefinitionError({
        agentName: name,
        toolName: tool.name,
        message: `The tool ${tool.name} of agent ${name} returns failures to the model, so its failure schema must not hold a FailureDiagnostic; project it into a safe failure schema.`,
      });
    }
  }
  Result.getOrThrow(checkProgrammaticTools(name, tools));
  return {
    id: AgentId.make(name),
    input: options.input,
    output: options.output,
    instructions: options.instructions,
    toolkit: options.toolkit,
    policy: Result.getOrThrow(resolveRunPolicy(name, options.policy ?? {})),
    approvalExpiresAfter: options.approvalExpiresAfter,
    completion: Result.getOrThrow(completionOf(name, tools, options.completion)),
    toolExposure: Result.getOrThrow(resolveExposureConfig(name, tools, options.toolExposure)),
  };
};

const completionOf = (
  agentName: string,
  tools: Record<string, Tool.Any>,
  option: { readonly toolName: string; readonly required?: boolean } | undefined,
): Result.Result<CompletionTool | undefined, AgentDefinitionError> => {
  if (option === undefined) return Result.succeed(undefined);
  const { required = false, toolName } = option;
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  if (tool !== undefined && requiresHandler(tool) && !isDiscoveryTool(tool))
    return Result.succeed({ toolName, required });
  return Result.fail(
    new AgentDefinitionError({
      agentName,
      toolName,
      message: `The completion of agent ${agentName} must be a tool of its toolkit that a handler runs and that selects no tools; ${JSON.stringify(toolName)} is not.`,
    }),
  );
};

/** Joins a definition to its handlers for a durable host. */
export const bind = <
  Input extends DataSchema,
  Output extends DataSchema,
  Tools extends Record<string, Tool.Any>,
  E,
  R,
>(
  definition: Definition<Input, Output, Tools>,
  handlers: Layer.Layer<Tool.HandlersFor<Tools>, E, R>,
): Binding<Input, Output, Tools, E, R> => ({ definition, handlers });

export { defaultRunPolicy, type RunPolicy, type RunPolicyOptions } from "./policy.ts";
export { inspectTools, type InspectedTool } from "./inspect-tools.ts";
