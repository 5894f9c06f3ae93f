/**
 * What an operator's answer for a tool must look like (DU-07). The registry of
 * agents implements it; nothing here runs a tool.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { InvalidInput } from "#lib/contract/errors.ts";
import type { AgentId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";

export class ToolSchemas extends Context.Service<
  ToolSchemas,
  {
    /** Refused when the encoded result does not fit the tool's success schema, or its failure schema when `isFailure`; also when the tool is not registered any more. */
    readonly validateResult: (request: {
      readonly agentId: AgentId;
      readonly toolName: string;
      readonly result: Json;
      readonly isFailure: boolean;
    }) => Effect.Effect<void, InvalidInput>;
    /** JSON Schemas for the editor; `failure` is null for a tool that declares none, `success` is `{}` for one that is gone. */
    readonly resultSchemas: (request: {
      readonly agentId: AgentId;
      readonly toolName: string;
    }) => Effect.Effect<{ readonly success: Json; readonly failure: Json | null }>;
  }
>()("effect-agent/operator/ToolSchemas") {}
