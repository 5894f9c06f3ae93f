/**
 * Digests of what an agent and its tools promise. A stored call names the digest
 * of the tool it was declared for; recovery runs it only by that very contract
 * (DU-19), and an approval receipt compares it with what ran.
 */
import * as Context from "effect/Context";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import { programmaticToolsOf } from "#lib/broker/programmatic-tools.ts";
import { Digest } from "#lib/contract/ids.ts";
import { digestOf } from "#lib/contract/json/digest.ts";
import type { Json } from "#lib/contract/json/json.ts";
import { DiscoveryDigest } from "#lib/tool-discovery.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import type { Definition } from "./Agent.ts";

/** JSON Schema of a schema's encoded side; null where it has none (a declaration, an opaque value). */
export const jsonSchemaOf = (schema: Schema.Constraint): Json => {
  try {
    // JSON.parse drops undefined members, which JSON Schema documents of this Effect release may hold.
    return JSON.parse(JSON.stringify(Tool.getJsonSchemaFromSchema(schema)));
  } catch {
    return null;
  }
};

/** JSON Schema of a tool's parameters before any provider's transformation. */
export const parametersJsonSchemaOf = (tool: Tool.Any): Json => {
  try {
    return JSON.parse(JSON.stringify(Tool.getJsonSchema(tool)));
  } catch {
    return null;
  }
};

/** JSON Schema of a declared failure; null for a tool that declares none. */
export const failureJsonSchemaOf = (tool: Tool.Any): Json =>
  tool.failureSchema === Schema.Never ? null : jsonSchemaOf(tool.failureSchema);

/** Digest of one tool's contract: name, schemas, failure mode, execution class, approval flag. */
export const toolDigestOf = (tool: Tool.Any): Digest => {
  const known = toolDigests.get(tool);
  if (known !== undefined) return known;
  const digest = computeToolDigest(tool);
  toolDigests.set(tool, digest);
  return digest;
};

// Tools are immutable values; a batch of 50 calls must not derive the same schema 50 times.
const toolDigests = new WeakMap<Tool.Any, Digest>();

const computeToolDigest = (tool: Tool.Any): Digest =>
  Digest.make(
    digestOf({
      name: tool.name,
      description: Tool.getDescription(tool) ?? null,
      parameters: parametersJsonSchemaOf(tool),
      success: jsonSchemaOf(tool.successSchema),
      failure: failureJsonSchemaOf(tool),
      failureMode: tool.failureMode,
      executionClass: executionClassOf(tool),
      // Custom search semantics are part of what a discovery tool promises (D-18).
      discovery: Context.get(tool.annotations, DiscoveryDigest) ?? null,
      // Absent for a tool without them, so that stored digests of other tools stay what they are.
      ...programmaticPart(tool),
      needsApproval:
        typeof tool.needsApproval === "function" ? "by-rule" : (tool.needsApproval ?? false),
    }),
  );

const programmaticPart = (tool: Tool.Any): { readonly [key: string]: Json } => {
  const allowed = programmaticToolsOf(tool);
  return allowed === undefined
    ? {}
    : { programmaticTools: { maxCalls: allowed.maxCalls, toolNames: [...allowed.toolNames] } };
};

/** Digest of a whole definition. */
export const definitionDigestOf = (definition: Definition): Digest => {
  const known = definitionDigests.get(definition);
  if (known !== undefined) return known;
  const digest = computeDefinitionDigest(definition);
  definitionDigests.set(definition, digest);
  return digest;
};

// A definition is an immutable value too, and every run and attempt names it.
const definitionDigests = new WeakMap<Definition, Digest>();

const computeDefinitionDigest = (definition: Definition): Digest =>
  Digest.make(
    digestOf({
      id: definition.id,
      instructions: definition.instructions,
      input: jsonSchemaOf(definition.input),
      output: jsonSchemaOf(definition.output),
      policy: { ...definition.policy },
      ...(definition.completion === undefined ? {} : { completion: { ...definition.completion } }),
      exposure: definition.toolExposure === undefined ? null : { ...definition.toolExposure },
      tools: Object.values(definition.toolkit.tools).map((tool) => [tool.name, toolDigestOf(tool)]),
    }),
  );
