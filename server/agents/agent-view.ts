/** A registered agent as the console shows it (OP-02, Agents page). Pure. */
import { Context } from "effect";
import { Tool } from "effect/unstable/ai";
import { requiresHandler } from "#lib/agent/inspect-tools.ts";
import {
  failureJsonSchemaOf,
  jsonSchemaOf,
  parametersJsonSchemaOf,
  toolDigestOf,
} from "#lib/agent/definition-digest.ts";
import type { RunPolicy } from "#lib/agent/policy.ts";
import { programmaticToolsOf } from "#lib/broker/programmatic-tools.ts";
import type { AgentToolView, AgentView } from "#lib/contract/agent-views.ts";
import { executionClassOf } from "#lib/durable-step.ts";
import type { HostPolicies, RegisteredAgent } from "#lib/host/AgentRegistry.ts";
import { approvalRuleOf } from "#lib/tool-approval.ts";
import { DiscoveryBounds } from "#lib/tool-discovery.ts";
import { isDiscoveryTool, isPinned, namespaceOf } from "#lib/tool-exposure.ts";

const approvalOf = (tool: Tool.Any): AgentToolView["approval"] => {
  if (typeof tool.needsApproval === "function") return "by-rule";
  return tool.needsApproval === true ? "always" : "never";
};

const programsOf = (tool: Tool.Any): Pick<AgentToolView, "programmaticTools"> => {
  const programmaticTools = programmaticToolsOf(tool);
  return programmaticTools === undefined ? {} : { programmaticTools };
};

const toolView = (tool: Tool.Any): AgentToolView => ({
  name: tool.name,
  description: Tool.getDescription(tool) ?? null,
  namespace: namespaceOf(tool) ?? null,
  failureMode: tool.failureMode,
  executionClass: executionClassOf(tool),
  approval: approvalOf(tool),
  risk: approvalOf(tool) === "never" ? null : (approvalRuleOf(tool).risk ?? "medium"),
  pinned: isPinned(tool),
  discovery: isDiscoveryTool(tool),
  discoveryBounds: Context.get(tool.annotations, DiscoveryBounds) ?? null,
  requiresHandler: requiresHandler(tool),
  ...programsOf(tool),
  toolDigest: toolDigestOf(tool),
  parametersSchema: parametersJsonSchemaOf(tool),
  successSchema: jsonSchemaOf(tool.successSchema),
  failureSchema: failureJsonSchemaOf(tool),
});

export const budgetsOf = ({
  maxTurns,
  maxToolCalls,
  maxDurationMillis,
  toolConcurrency,
}: RunPolicy) => ({
  maxTurns,
  maxToolCalls,
  maxDurationMillis,
  toolConcurrency,
});

export const agentView = (
  { definition, definitionDigest, examples }: RegisteredAgent,
  policies: Pick<HostPolicies, "authorization" | "visibility">,
): AgentView => {
  const tools = Object.values(definition.toolkit.tools).map(toolView);
  const { toolExposure } = definition;
  return {
    agentId: definition.id,
    instructions: definition.instructions,
    definitionDigest,
    inputSchema: jsonSchemaOf(definition.input),
    budgets: budgetsOf(definition.policy),
    toolCount: tools.length,
    tools,
    exposure:
      toolExposure === undefined
        ? null
        : {
            initialToolNames: toolExposure.initialToolNames ?? [],
            maxTools: toolExposure.maxTools,
            maxSchemaBytes: toolExposure.maxSchemaBytes,
          },
    policyInstalled: policies.authorization !== undefined,
    visibilityInstalled: policies.visibility !== undefined,
    examples,
  };
};
