/** The registered agents as the console shows them, and the check of input for one of them. The registry implements it. */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { InvalidInput } from "#lib/contract/errors.ts";
import type { AgentId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";
import type { AgentView } from "#lib/contract/agent-views.ts";
import type { RunDetail } from "#lib/contract/run-views.ts";

export class AgentCatalogue extends Context.Service<
  AgentCatalogue,
  {
    readonly list: () => Effect.Effect<ReadonlyArray<AgentView>>;
    /** Refused when the input does not fit the agent's input schema. The agent is known to exist. */
    readonly checkInput: (request: {
      readonly agentId: AgentId;
      readonly input: Json;
    }) => Effect.Effect<void, InvalidInput>;
    /** The budgets of the agent's runs; the library's defaults for an agent that is not registered any more. */
    readonly policyOf: (agentId: AgentId) => Effect.Effect<RunDetail["policy"]>;
    /** What an effect in doubt does to the queue of the agent's threads (DU-15). */
    readonly unknownPolicyOf: (agentId: AgentId) => Effect.Effect<"park" | "block">;
    /** Which model answers, and whether it is the rehearsal model (said on every page, DESIGN section 7). */
    readonly model: Effect.Effect<{ readonly modelId: string; readonly rehearsal: boolean }>;
  }
>()("effect-agent/views/AgentCatalogue") {}
