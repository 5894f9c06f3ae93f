import * as Predicate from "effect/Predicate";
import * as Result from "effect/Result";
import type * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import { checkJsonBounds } from "#lib/contract/json/json-bounds.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { toJson } from "#lib/contract/json/to-json.ts";
import type { CatalogueEntry, DiscoveryAlias } from "./catalogue.ts";
import type { Match } from "./descriptor.ts";
import { discoveryError, type ToolDiscoveryError } from "./discovery-error.ts";

interface ToolSchemas {
  readonly parametersSchema: Json;
  readonly successSchema: Json;
}

/** Generated once per tool: a popular tool is documented again and again. */
const generated = new WeakMap<Tool.Any, ToolSchemas>();

/**
 * Documents one catalogue entry with its complete encoded schemas (D-03).
 *
 * @returns the match, or `ToolDiscoveryError` `invalid-schema` for a provider-defined tool (D-16) and for a
 *   schema that is no JSON object
 */
export const documentEntry = (entry: CatalogueEntry): Result.Result<Match, ToolDiscoveryError> => {
  const { descriptor, source } = entry;
  const schemas = isAlias(source) ? checkSchemas(source) : schemasOf(source);
  return Result.mapBoth(schemas, {
    onSuccess: (found) => ({ ...descriptor, ...found }),
    onFailure: (why) =>
      discoveryError(
        "invalid-schema",
        `The tool ${JSON.stringify(descriptor.id.slice(0, 128))} cannot be documented: ${why.slice(0, 512)}`,
        descriptor.id,
      ),
  });
};

const isAlias = (source: Tool.Any | DiscoveryAlias): source is DiscoveryAlias =>
  !(Tool.TypeId in source);

const schemasOf = (tool: Tool.Any): Result.Result<ToolSchemas, string> => {
  const known = generated.get(tool);
  if (known !== undefined) return Result.succeed(known);
  if (Tool.isProviderDefined(tool))
    return Result.fail("it is executed by the provider and has no callable schema.");
  try {
    const schemas = checkSchemas({
      parametersSchema: Tool.getJsonSchema(tool),
      successSchema: successSchemaOf(tool.successSchema),
    });
    if (Result.isSuccess(schemas)) generated.set(tool, schemas.success);
    return schemas;
  } catch (error) {
    // Schema generation throws for schemas that JSON Schema cannot express.
    return Result.fail(error instanceof Error ? error.message : "the schema generator failed.");
  }
};

const successSchemaOf = (schema: Schema.Constraint): unknown =>
  Tool.getJsonSchemaFromSchema(schema);

const checkSchemas = (schemas: {
  readonly parametersSchema: unknown;
  readonly successSchema: unknown;
}): Result.Result<ToolSchemas, string> =>
  Result.gen(function* () {
    return {
      parametersSchema: yield* checkSchema("parameter", schemas.parametersSchema),
      successSchema: yield* checkSchema("success", schemas.successSchema),
    };
  });

const checkSchema = (which: string, schema: unknown): Result.Result<Json, string> => {
  // A remote server's schema is hostile input: it is copied as data and bounded like any other value.
  const copied = Result.flatMap(toJson(schema), (json) => checkJsonBounds(json));
  if (Result.isFailure(copied))
    return Result.fail(`its ${which} schema is not usable. ${copied.failure.message}`);
  return Predicate.isObject(copied.success)
    ? Result.succeed(copied.success)
    : Result.fail(`its ${which} schema is no JSON object.`);
};
