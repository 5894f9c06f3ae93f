/** The probes of the registered agents, for operators. */
import { Effect, Layer, Option } from "effect";
import { toolDigestOf } from "#lib/agent/definition-digest.ts";
import type { AgentId } from "#lib/contract/ids.ts";
import { askProbe, settleByRule } from "#lib/engine/ask-probe.ts";
import { AgentRegistry } from "#lib/host/AgentRegistry.ts";
import { ToolProbes } from "#server/operator/ToolProbes.ts";

export const toolProbesLayer: Layer.Layer<ToolProbes, never, AgentRegistry> = Layer.effect(
  ToolProbes,
  Effect.gen(function* () {
    const registry = yield* AgentRegistry;
    const find = ({ agentId, toolName }: { agentId: AgentId; toolName: string }) =>
      Option.flatMap(registry.get(agentId), ({ definition, probes }) => {
        const { tools } = definition.toolkit;
        const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
        const probe = Object.hasOwn(probes, toolName) ? probes[toolName] : undefined;
        return tool === undefined || probe === undefined
          ? Option.none()
          : Option.some({ tool, probe });
      });
    return ToolProbes.of({
      ruleOf: (tool) => Option.map(find(tool), ({ probe }) => probe.settles ?? {}),
      ask: ({ agentId, call, toolDigest }) =>
        Option.match(find({ agentId, toolName: call.toolName }), {
          onNone: () => Effect.succeedNone,
          onSome: ({ tool, probe }) =>
            askProbe(probe, call).pipe(
              Effect.flatMap((report) =>
                toolDigestOf(tool) === toolDigest
                  ? settleByRule(tool, probe, report)
                  : Effect.succeed({ report, settles: undefined }),
              ),
              Effect.asSome,
            ),
        }),
    });
  }),
);
