import * as Schema from "effect/Schema";
import { HttpApiEndpoint, HttpApiGroup } from "effect/unstable/httpapi";
import { AgentId } from "../ids.ts";
import { AgentView } from "../agent-views.ts";
import { Authentication, DecodedInput } from "./authentication.ts";
import { listRefusals, readRefusals } from "./refusals.ts";

/** The registered agents; few, so the list is whole. */
export const agentsGroup = HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.get("list", "/agents", {
      success: Schema.Struct({ items: Schema.Array(AgentView) }),
      error: listRefusals,
    }),
    HttpApiEndpoint.get("get", "/agents/:agentId", {
      params: { agentId: AgentId },
      success: AgentView,
      error: readRefusals,
    }),
  )
  .middleware(DecodedInput)
  .middleware(Authentication);
