import * as Result from "effect/Result";
import type { CodecTransformer } from "effect/unstable/ai/LanguageModel";
import * as Tool from "effect/unstable/ai/Tool";
import { AgentDefinitionError } from "#lib/agent-error.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import { utf8ByteLength } from "#lib/contract/json/utf8.ts";

/** What a request says about one tool (T-07, X-03). */
export interface ToolDeclaration {
  readonly name: string;
  /** The tool's own description, or that of its parameter schema (T-07). */
  readonly description?: string;
  /** JSON Schema after the model's transformation; for a provider-defined tool its arguments. */
  readonly parameters: Json;
}

interface Measured {
  readonly declaration: ToolDeclaration;
  readonly bytes: number;
}

/** Schemas are generated once per tool and transformer: a request with hundreds of tools repeats them every turn. */
const untransformed = new WeakMap<Tool.Any, Measured>();
const transformed = new WeakMap<CodecTransformer, WeakMap<Tool.Any, Measured>>();

/**
 * The declaration of a tool as the current model will see it, with its size.
 *
 * @param transformer the current model's schema transformation; left out, the plain JSON Schema
 * @returns UTF-8 `bytes` of the declaration's JSON text, or `AgentDefinitionError` when the tool's schema
 *   has no JSON Schema this model accepts
 */
export const declarationOf = (
  tool: Tool.Any,
  transformer?: CodecTransformer,
): Result.Result<Measured, AgentDefinitionError> => {
  const cache = cacheOf(transformer);
  const known = cache.get(tool);
  if (known !== undefined) return Result.succeed(known);
  return Result.map(parametersOf(tool, transformer), (parameters) => {
    const description = Tool.getDescription(tool);
    const declaration: ToolDeclaration = {
      name: tool.name,
      ...(description === undefined ? {} : { description }),
      parameters,
    };
    const measured = { declaration, bytes: utf8ByteLength(JSON.stringify(declaration)) };
    cache.set(tool, measured);
    return measured;
  });
};

const cacheOf = (transformer: CodecTransformer | undefined): WeakMap<Tool.Any, Measured> => {
  if (transformer === undefined) return untransformed;
  const known = transformed.get(transformer);
  if (known !== undefined) return known;
  const fresh = new WeakMap<Tool.Any, Measured>();
  transformed.set(transformer, fresh);
  return fresh;
};

const parametersOf = (
  tool: Tool.Any,
  transformer: CodecTransformer | undefined,
): Result.Result<Json, AgentDefinitionError> => {
  try {
    const schema: unknown = Tool.isProviderDefined(tool)
      ? tool.args
      : Tool.getJsonSchema(
          takesNothing(tool) ? withoutParameters : tool,
          transformer === undefined ? {} : { transformer },
        );
    return Result.mapError(toJson(schema ?? {}), (error) => noSchema(tool, error.message));
  } catch (error) {
    // Schema generation and provider transformers throw for schemas they cannot express.
    return Result.fail(
      noSchema(tool, error instanceof Error ? error.message : "the schema generator failed"),
    );
  }
};

/** The declaration of no parameters as every provider accepts it. */
const withoutParameters = Tool.make("without_parameters");

/**
 * `Schema.Struct({})` admits any object or array, and its JSON Schema says so:
 * strict providers refuse that, and what its author means is no parameters (T-02).
 */
const takesNothing = (tool: Tool.Any): boolean => {
  const { ast } = tool.parametersSchema;
  return (
    ast._tag === "Objects" &&
    ast.propertySignatures.length === 0 &&
    ast.indexSignatures.length === 0
  );
};

const noSchema = (tool: Tool.Any, why: string): AgentDefinitionError =>
  new AgentDefinitionError({
    toolName: tool.name,
    message: `The parameters of the tool ${JSON.stringify(tool.name)} cannot be declared to this model: ${why.slice(0, 512)}`,
  });

/**
 * UTF-8 bytes of the JSON array of the tools' declarations: names, descriptions and parameter schemas
 * after the current model's transformation (X-03).
 */
export const declarationBytes = (
  tools: ReadonlyArray<Tool.Any>,
  transformer?: CodecTransformer,
): Result.Result<number, AgentDefinitionError> => {
  let bytes = 2 + Math.max(0, tools.length - 1);
  for (const tool of tools) {
    const measured = declarationOf(tool, transformer);
    if (Result.isFailure(measured)) return Result.fail(measured.failure);
    bytes += measured.success.bytes;
  }
  return Result.succeed(bytes);
};
