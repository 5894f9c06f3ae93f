/**
 * The toolkit that goes on the wire. Upstream decodes arguments while it reads a
 * response and fails the whole response over one bad argument, so the request
 * carries stand-ins: each exposed tool as a dynamic tool with exactly the JSON
 * schema the provider would have sent, and parameters that pass through raw. The
 * engine then decodes once, itself. tests/engine/request-toolkit.test.ts states
 * what upstream does, per provider, and fails when an upgrade changes it.
 */
import type { JsonSchema } from "effect/JsonSchema";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { CodecTransformer } from "effect/unstable/ai/LanguageModel";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import { declarationOf } from "#lib/exposure/declarations.ts";
import type { ModelCodec } from "./ModelCodec.ts";

/**
 * The JSON schema of a tool's parameters as the current model receives it: the
 * very one that exposure measured. Exposure has refused tools without one.
 */
export const requestSchemaOf = (tool: Tool.Any, codec: ModelCodec["Service"]): JsonSchema => {
  const { parameters } = Result.getOrThrow(declarationOf(tool, codec.transformer)).declaration;
  return parameters as JsonSchema; // a JSON object: what a JSON Schema is
};

/** Stand-ins are made once per tool and transformer: a long run repeats them every turn. */
const made = new WeakMap<CodecTransformer, WeakMap<Tool.Any, Tool.Any>>();

const keysOf = (schema: JsonSchema): ReadonlyArray<string> => {
  const properties = schema["properties"];
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
};

/**
 * One optional unknown per key: what every provider's codec hands through
 * untouched. A tool without parameters gets a key that no schema has, because the
 * strict transformation refuses a struct without any.
 */
const passThrough = (schema: JsonSchema): Schema.Top => {
  const keys = keysOf(schema);
  return Schema.Struct(
    Object.fromEntries(
      (keys.length === 0 ? ["none"] : keys).map((key) => [key, Schema.optionalKey(Schema.Unknown)]),
    ),
  );
};

const standIn = (tool: Tool.Any, codec: ModelCodec["Service"]): Tool.Any => {
  if (Tool.isProviderDefined(tool)) return tool;
  const known = made.get(codec.transformer) ?? new WeakMap<Tool.Any, Tool.Any>();
  made.set(codec.transformer, known);
  const before = known.get(tool);
  if (before !== undefined) return before;
  const fresh = makeStandIn(tool, codec);
  known.set(tool, fresh);
  return fresh;
};

const makeStandIn = (tool: Tool.Any, codec: ModelCodec["Service"]): Tool.Any => {
  const jsonSchema = requestSchemaOf(tool, codec);
  const description = Tool.getDescription(tool);
  const dynamic = Tool.dynamic(tool.name, {
    ...(description === undefined ? {} : { description }),
    parameters: jsonSchema,
  }).annotateMerge(tool.annotations);
  // `setParameters` would drop the JSON schema again, so the one field is replaced on a copy.
  return Object.assign(Object.create(Object.getPrototypeOf(dynamic)), dynamic, {
    parametersSchema: passThrough(jsonSchema),
  });
};

/**
 * @param exposed the tools the model may call in this request, in a stable order
 */
export const makeRequestToolkit = (
  exposed: ReadonlyArray<Tool.Any>,
  codec: ModelCodec["Service"],
): Toolkit.WithHandler<Record<string, Tool.Any>> => {
  const toolkit = Toolkit.make(...exposed.map((tool) => standIn(tool, codec)));
  return {
    tools: toolkit.tools,
    // Resolution is disabled in every request, so upstream never asks for a handler.
    handle: () => {
      throw new Error("The request toolkit has no handlers: the engine runs calls itself.");
    },
  };
};
