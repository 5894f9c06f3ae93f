import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import { AgentDefinitionError } from "#lib/agent-error.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import { isDiscoveryTool } from "./tool-annotations.ts";

/** Tools exposed at most when the configuration says nothing. */
export const defaultMaxTools = 64;
/** UTF-8 bytes of declarations at most when the configuration says nothing: 256 KiB. */
export const defaultMaxSchemaBytes = 262_144;
/** Nothing configures more tools than this. */
export const ceilingMaxTools = 1_024;
/** Nothing configures more bytes of declarations than this: 4 MiB. */
export const ceilingMaxSchemaBytes = 4_194_304;

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }));

/**
 * `toolExposure` of an agent as its author writes it.
 *
 * - `initialToolNames`: registered tools of the first request, beside the pins. Left out: none when the
 *   toolkit has a discovery tool, else all.
 * - `maxTools`: most exposed tools, 1 to 1,024, default 64
 * - `maxSchemaBytes`: most UTF-8 bytes of exposed declarations, 1 to 4 MiB, default 256 KiB
 */
export const ToolExposureOptions = Schema.Struct({
  initialToolNames: Schema.optionalKey(Schema.Array(Schema.String)),
  maxTools: Schema.optionalKey(between(1, ceilingMaxTools)),
  maxSchemaBytes: Schema.optionalKey(between(1, ceilingMaxSchemaBytes)),
});
export type ToolExposureOptions = typeof ToolExposureOptions.Type;

/** {@link ToolExposureOptions} with every default filled in and every name known to be registered. */
export const ToolExposureConfig = Schema.Struct({
  initialToolNames: Schema.Array(Schema.String),
  maxTools: between(1, ceilingMaxTools),
  maxSchemaBytes: between(1, ceilingMaxSchemaBytes),
});
export type ToolExposureConfig = typeof ToolExposureConfig.Type;

const decodeOptions = Schema.decodeUnknownResult(ToolExposureOptions);

/**
 * Fills in an agent's exposure and checks everything about it that is known before any run: the limits are
 * within their ceilings, initial names are registered, and every discovery tool has a handler here
 * and is `readonly` (D-15).
 *
 * @returns undefined when the agent configures nothing; `AgentDefinitionError` names what is wrong
 */
export const resolveExposureConfig = (
  agentName: string,
  tools: Readonly<Record<string, Tool.Any>>,
  options: ToolExposureOptions | undefined,
): Result.Result<ToolExposureConfig | undefined, AgentDefinitionError> => {
  const refuse = (message: string, toolName?: string): Result.Result<never, AgentDefinitionError> =>
    Result.fail(
      new AgentDefinitionError({
        agentName,
        message: `Agent ${JSON.stringify(agentName)}: ${message}`,
        ...(toolName === undefined ? {} : { toolName }),
      }),
    );
  for (const tool of Object.values(tools)) {
    const fault = isDiscoveryTool(tool) ? discoveryFault(tool) : undefined;
    if (fault !== undefined) {
      return refuse(`the discovery tool ${JSON.stringify(tool.name)} ${fault}`, tool.name);
    }
  }
  if (options === undefined) return Result.succeed(undefined);
  const decoded = decodeOptions(options);
  if (Result.isFailure(decoded)) {
    return refuse(
      `toolExposure is invalid: maxTools must be a whole number from 1 to ${ceilingMaxTools}, maxSchemaBytes one from 1 to ${ceilingMaxSchemaBytes}, and initialToolNames a list of names.`,
    );
  }
  const { initialToolNames, maxTools, maxSchemaBytes } = decoded.success;
  // Object.hasOwn: `toString` and `__proto__` are no tools.
  const unknown = initialToolNames?.find((name) => !Object.hasOwn(tools, name));
  if (unknown !== undefined) {
    return refuse(
      `toolExposure.initialToolNames names ${JSON.stringify(unknown)}, which is not registered.`,
      unknown,
    );
  }
  const hasDiscovery = Object.values(tools).some(isDiscoveryTool);
  return Result.succeed({
    initialToolNames: initialToolNames ?? (hasDiscovery ? [] : Object.keys(tools)),
    maxTools: maxTools ?? defaultMaxTools,
    maxSchemaBytes: maxSchemaBytes ?? defaultMaxSchemaBytes,
  });
};

const discoveryFault = (tool: Tool.Any): string | undefined => {
  if (Tool.isProviderDefined(tool)) {
    return "is executed by the provider; its results cannot select tools.";
  }
  const executionClass = executionClassOf(tool);
  return executionClass === "readonly"
    ? undefined
    : `has the execution class "${executionClass}"; annotate it with ToolExecutionClass "readonly".`;
};
