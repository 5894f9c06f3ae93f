/** The console's and the operators' view of the registry: agents, input checks, result schemas. */
import { Effect, Layer, Option, Schema } from "effect";
import type { Tool } from "effect/unstable/ai";
import { failureJsonSchemaOf, jsonSchemaOf } from "#lib/agent/definition-digest.ts";
import { defaultRunPolicy, type RunPolicy } from "#lib/agent/policy.ts";
import { InvalidInput } from "#lib/contract/errors.ts";
import type { AgentId } from "#lib/contract/ids.ts";
import { AgentRegistry } from "#lib/host/AgentRegistry.ts";
import { ModelBinding } from "#server/model/ModelBinding.ts";
import { ToolSchemas } from "#server/operator/ToolSchemas.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";
import { agentView } from "./agent-view.ts";

const budgetsOf = ({ maxTurns, maxToolCalls, maxDurationMillis, toolConcurrency }: RunPolicy) => ({
  maxTurns,
  maxToolCalls,
  maxDurationMillis,
  toolConcurrency,
});

/** Tool and agent schemas need no services: they describe data that crosses processes. */
const codec = (schema: unknown): Schema.ConstraintCodec<unknown, unknown> =>
  schema as Schema.ConstraintCodec<unknown, unknown>;

export const catalogueLayer: Layer.Layer<AgentCatalogue, never, AgentRegistry | ModelBinding> =
  Layer.effect(
    AgentCatalogue,
    Effect.gen(function* () {
      const registry = yield* AgentRegistry;
      const { modelId, isRehearsal } = yield* ModelBinding;
      const views = registry.all.map((agent) => agentView(agent, registry.policies));
      const runPolicyOf = (agentId: AgentId): RunPolicy =>
        Option.match(registry.get(agentId), {
          onNone: () => defaultRunPolicy,
          onSome: ({ definition }) => definition.policy,
        });
      return AgentCatalogue.of({
        list: () => Effect.succeed(views),
        checkInput: ({ agentId, input }) =>
          Option.match(registry.get(agentId), {
            onNone: () =>
              Effect.fail(
                new InvalidInput({
                  path: "agentId",
                  message: `No agent named ${agentId} is registered.`,
                }),
              ),
            onSome: ({ definition }) =>
              Schema.decodeUnknownEffect(codec(definition.input))(input).pipe(
                Effect.asVoid,
                Effect.mapError(
                  (error) =>
                    new InvalidInput({
                      path: "input",
                      message: `The input does not fit what agent ${agentId} takes: ${error.message.slice(0, 1_000)}`,
                    }),
                ),
              ),
          }),
        policyOf: (agentId) => Effect.sync(() => budgetsOf(runPolicyOf(agentId))),
        unknownPolicyOf: (agentId) => Effect.sync(() => runPolicyOf(agentId).unknownPolicy),
        model: Effect.succeed({ modelId, rehearsal: isRehearsal }),
      });
    }),
  );

const gone = (toolName: string) =>
  new InvalidInput({
    path: "result",
    message: `The tool ${toolName} is not registered any more, so no result can be checked for it.`,
  });

export const toolSchemasLayer: Layer.Layer<ToolSchemas, never, AgentRegistry> = Layer.effect(
  ToolSchemas,
  Effect.gen(function* () {
    const registry = yield* AgentRegistry;
    const find = (agentId: AgentId, toolName: string): Tool.Any | undefined => {
      const agent = Option.getOrUndefined(registry.get(agentId));
      const tools = agent?.definition.toolkit.tools ?? {};
      return Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
    };
    return ToolSchemas.of({
      validateResult: ({ agentId, toolName, result, isFailure }) =>
        Effect.suspend(() => {
          const tool = find(agentId, toolName);
          if (tool === undefined) return Effect.fail(gone(toolName));
          // Void results are `null` in JSON (T-05), which the schema itself does not read.
          if (!isFailure && tool.successSchema === Schema.Void && result === null)
            return Effect.void;
          const schema = isFailure ? tool.failureSchema : tool.successSchema;
          return Schema.decodeUnknownEffect(codec(schema), { onExcessProperty: "error" })(
            result,
          ).pipe(
            Effect.asVoid,
            Effect.mapError(
              (error) =>
                new InvalidInput({
                  path: "result",
                  message: `The result does not fit the ${isFailure ? "failure" : "success"} schema of ${toolName}: ${error.message.slice(0, 1_000)}`,
                }),
            ),
          );
        }),
      resultSchemas: ({ agentId, toolName }) =>
        Effect.sync(() => {
          const tool = find(agentId, toolName);
          return tool === undefined
            ? { success: {}, failure: null }
            : { success: jsonSchemaOf(tool.successSchema), failure: failureJsonSchemaOf(tool) };
        }),
    });
  }),
);
