/**
 * What operators may ask destinations (DU-06). The registry of agents implements
 * it; a probe only reads, and nothing here runs a tool.
 */
import * as Context from "effect/Context";
import type * as Effect from "effect/Effect";
import type * as Option from "effect/Option";
import type { AgentId } from "#lib/contract/ids.ts";
import type { ProbeReport, ProbeResolution } from "#lib/engine/ask-probe.ts";
import type { LostCall, ProbeRule } from "#lib/tool-probe.ts";

/** A destination's answer, and the resolution that the tool's declared rule draws from it. */
export interface ProbeOutcome {
  readonly report: ProbeReport;
  readonly settles: ProbeResolution | undefined;
}

export class ToolProbes extends Context.Service<
  ToolProbes,
  {
    /** The rule of the tool's probe, empty where it declares none; none for a tool without a probe. */
    readonly ruleOf: (tool: {
      readonly agentId: AgentId;
      readonly toolName: string;
    }) => Option.Option<ProbeRule>;
    /**
     * Asks, at most 10 seconds; none for a tool without a probe. A tool whose contract is
     * not the one of `toolDigest` any more gives evidence only (DU-19).
     */
    readonly ask: (request: {
      readonly agentId: AgentId;
      readonly call: LostCall;
      readonly toolDigest: string | null;
    }) => Effect.Effect<Option.Option<ProbeOutcome>>;
  }
>()("effect-agent/operator/ToolProbes") {}
