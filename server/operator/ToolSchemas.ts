/**
 * What a tool's registration says to the operators who answer for its calls: what
 * their answer must look like (DU-07), and what a call would be judged by now. The
 * registry of agents implements it; nothing here runs a tool.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type { InvalidInput } from "#lib/contract/errors.ts";
import type { ApprovalBasis } from "#lib/contract/approval.ts";
import type { AgentId, RunId, ThreadId } from "#lib/contract/ids.ts";
import type { Json } from "#lib/contract/json/json.ts";

/** A declared call, and the run whose filter may hide its tool. */
export interface StandingRequest {
  readonly agentId: AgentId;
  readonly toolName: string;
  readonly threadId: ThreadId;
  readonly runId: RunId;
  readonly turn: number;
  /** The run's input, encoded. */
  readonly input: Json;
}

/** What the call would be judged by now, as far as the registry knows. */
export interface CallStanding extends Omit<ApprovalBasis, "callsLeft" | "expiresAt"> {
  readonly maxToolCalls: number;
}

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
    /**
     * Arguments that a person suggests, read from their text by the tool's own decoder as a model's are (T-15):
     * answers them in the tool's encoding, defaults filled in.
     */
    readonly checkArguments: (request: {
      readonly agentId: AgentId;
      readonly toolName: string;
      readonly text: string;
    }) => Effect.Effect<Json, InvalidInput>;
    /** Never fails and never waits long: what cannot be told is said so. */
    readonly standingOf: (request: StandingRequest) => Effect.Effect<CallStanding>;
    /** JSON Schemas for the editor; `failure` is null for a tool that declares none, `success` is `{}` for one that is gone. */
    readonly resultSchemas: (request: {
      readonly agentId: AgentId;
      readonly toolName: string;
    }) => Effect.Effect<{ readonly success: Json; readonly failure: Json | null }>;
  }
>()("effect-agent/operator/ToolSchemas") {}
