import * as Predicate from "effect/Predicate";
import * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";
import * as Tool from "effect/unstable/ai/Tool";

/** Longest text of one tool, in UTF-16 code units: a remote server must not make an index of a novel. */
const maxLength = 4_096;

/**
 * Names and descriptions of a tool's top-level parameters, for ranking only. Reads the declaration itself
 * and generates no JSON Schema, so that ten thousand tools are read in milliseconds.
 */
export const parameterText = (tool: Tool.Any): string => {
  const parts: Array<string> = [];
  const schema: unknown = tool.parametersSchema;
  if (Tool.isDynamic(tool) && tool.jsonSchema !== undefined) {
    const properties: unknown = tool.jsonSchema["properties"];
    for (const [name, property] of Object.entries(
      Predicate.isObject(properties) ? properties : {},
    )) {
      parts.push(name);
      if (
        Predicate.hasProperty(property, "description") &&
        Predicate.isString(property.description)
      ) {
        parts.push(property.description);
      }
    }
  } else if (Predicate.hasProperty(schema, "fields") && Predicate.isObject(schema.fields)) {
    for (const [name, field] of Object.entries(schema.fields)) {
      parts.push(name);
      const description = Schema.isSchema(field)
        ? SchemaAST.resolveDescription(field.ast)
        : undefined;
      if (description !== undefined) parts.push(description);
    }
  }
  return parts.join(" ").slice(0, maxLength);
};
