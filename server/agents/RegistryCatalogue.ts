/** The console's and the operators' view of the registry: agents, input checks, result schemas. */
import { Effect, Exit, Layer, Option, Result, Schema } from "effect";
import type { Tool } from "effect/unstable/ai";
import { failureJsonSchemaOf, jsonSchemaOf, toolDigestOf } from "#lib/agent/definition-digest.ts";
import { defaultRunPolicy, type RunPolicy } from "#lib/agent/policy.ts";
import { approvalRuleWords } from "#lib/approval/approval-basis.ts";
import { approvalRuleDefaults } from "#lib/approval/request-content.ts";
import { InvalidInput } from "#lib/contract/errors.ts";
import type { AgentId } from "#lib/contract/ids.ts";
import { checkResult } from "#lib/engine/check-result.ts";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { decodeArguments } from "#lib/engine/ToolArguments.ts";
import { AgentRegistry, type HostPolicies } from "#lib/host/AgentRegistry.ts";
import { approvalRuleOf } from "#lib/tool-approval.ts";
import { ModelBinding } from "#server/model/ModelBinding.ts";
import {
  type CallStanding,
  type StandingRequest,
  ToolSchemas,
} from "#server/operator/ToolSchemas.ts";
import { AgentCatalogue } from "#server/views/AgentCatalogue.ts";
import { agentView, budgetsOf } from "./agent-view.ts";

/** Tool and agent schemas need no services: they describe data that crosses processes. */
const codec = (schema: unknown): Schema.ConstraintCodec<unknown, unknown> =>
  schema as Schema.ConstraintCodec<unknown, unknown>;

/** A filter that takes longer is not waited for: a person is. */
const filterPatience = "1 second";

const visibilityOf = (
  policies: HostPolicies,
  call: StandingRequest,
  toolNames: ReadonlyArray<string>,
) => {
  const { threadId, runId, turn, input, toolName } = call;
  if (policies.visibility === undefined) return Effect.succeed("visible" as const);
  const question = { threadId, runId, turn, input: structuredClone(input), toolNames };
  return policies.visibility.visible(question).pipe(
    Effect.timeout(filterPatience),
    Effect.exit,
    Effect.map((asked) => {
      if (Exit.isFailure(asked)) return "not-told" as const;
      return asked.value.includes(toolName) ? ("visible" as const) : ("hidden" as const);
    }),
  );
};

const standingOf = Effect.fnUntraced(function* (
  registry: AgentRegistry["Service"],
  call: StandingRequest,
) {
  const agent = Option.getOrUndefined(registry.get(call.agentId));
  const tools = agent?.definition.toolkit.tools ?? {};
  const tool = Object.hasOwn(tools, call.toolName) ? tools[call.toolName] : undefined;
  const rule = tool === undefined ? undefined : approvalRuleOf(tool);
  return {
    toolDigest: tool === undefined ? null : toolDigestOf(tool),
    definitionDigest: agent?.definitionDigest ?? null,
    approvalRule:
      rule === undefined
        ? "the tool is not registered"
        : approvalRuleWords(approvalRuleDefaults(rule)),
    authorization: registry.policies.authorization === undefined ? "none" : "asked",
    visibility: yield* visibilityOf(registry.policies, call, Object.keys(tools)),
    maxToolCalls: (agent?.definition.policy ?? defaultRunPolicy).maxToolCalls,
  } satisfies CallStanding;
});

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

const unreadable = (toolName: string, why: string) =>
  Effect.fail(
    new InvalidInput({
      path: "body.suggestion",
      message: `The suggested arguments are none for ${toolName}: ${why}`,
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
      standingOf: (call) => standingOf(registry, call),
      checkArguments: ({ agentId, toolName, text }) =>
        Effect.gen(function* () {
          const tool = find(agentId, toolName);
          if (tool === undefined)
            return yield* unreadable(toolName, "it is not registered any more");
          const call = { callId: "", toolName, argumentsText: text, params: undefined };
          const decoded = yield* decodeArguments(
            tool,
            { ...call, providerExecuted: false },
            ModelCodec.plain,
          );
          return Result.isSuccess(decoded)
            ? decoded.success.effective
            : yield* unreadable(toolName, decoded.failure.description);
        }),
      validateResult: ({ agentId, toolName, result, isFailure }) =>
        Effect.suspend(() => {
          const tool = find(agentId, toolName);
          if (tool === undefined) return Effect.fail(gone(toolName));
          return Effect.mapError(
            checkResult(tool, result, isFailure),
            (message) => new InvalidInput({ path: "result", message }),
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
