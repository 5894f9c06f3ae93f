/**
 * Effect Agent: tools stay Effect AI's own (`effect/unstable/ai`); this package
 * runs them under scheduling, approval, authorization, exposure and durability.
 */
export * as Agent from "./agent/Agent.ts";
export * as AgentRuntime from "./engine/AgentRuntime.ts";
export * as ToolDiscovery from "./tool-discovery.ts";
export * as ToolResults from "./tool-results.ts";
export * as ToolExposure from "./tool-exposure.ts";
export * as FailureDiagnostic from "./failure-diagnostic.ts";
