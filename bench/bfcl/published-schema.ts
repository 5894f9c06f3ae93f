/** BFCL's function declarations as tools. The schemas are JSON Schema with Python's names for some types. */
import * as JsonSchema from "effect/JsonSchema";
import * as Schema from "effect/Schema";
import * as SchemaRepresentation from "effect/SchemaRepresentation";
import * as Tool from "effect/unstable/ai/Tool";

export interface PublishedFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema.JsonSchema;
}

const standardTypes: Readonly<Record<string, string>> = {
  dict: "object",
  float: "number",
  tuple: "array",
};

const isSchema = (value: unknown): value is JsonSchema.JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The same schema with JSON Schema's type names. `any` says nothing, so it is left out. An object that lists
 * its properties has no others: BFCL's own checker counts an argument that is not listed as wrong.
 */
export const standardSchema = (published: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  const { items, properties, type, ...rest } = published;
  return {
    ...rest,
    ...(typeof type !== "string" || type === "any"
      ? {}
      : { type: Object.hasOwn(standardTypes, type) ? standardTypes[type] : type }),
    ...(isSchema(items) ? { items: standardSchema(items) } : {}),
    ...(isSchema(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [
              name,
              isSchema(property) ? standardSchema(property) : property,
            ]),
          ),
          additionalProperties: false,
        }
      : {}),
  };
};

/** A tool that validates what the function publishes; a refused call is told to the model, as `return` mode does. */
export const toolOf = (published: PublishedFunction) =>
  Tool.make(published.name, {
    description: published.description,
    // The import gives a codec of JSON data, whose services are none; its type cannot say so.
    parameters: SchemaRepresentation.fromJsonSchemaDocument(
      JsonSchema.fromSchemaDraft2020_12(standardSchema(published.parameters)),
    ) as Schema.Codec<unknown, unknown>,
    success: Schema.String,
    failure: Schema.String,
    failureMode: "return",
  });
