/** Agents with their tools, and the processes that work on their threads. */
import * as Schema from "effect/Schema";
import { AgentId, Digest, EpochMillis, WorkerId } from "./ids.ts";
import { ExecutionClass, FailureMode, Risk } from "./status.ts";

export const AgentToolView = Schema.Struct({
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  namespace: Schema.NullOr(Schema.String),
  failureMode: FailureMode,
  executionClass: ExecutionClass,
  approval: Schema.Literals(["never", "always", "by-rule"]),
  risk: Schema.NullOr(Risk),
  pinned: Schema.Boolean,
  discovery: Schema.Boolean,
  /** What a discovery result is bounded by; null for other tools and for discovery tools of one's own. */
  discoveryBounds: Schema.NullOr(
    Schema.Struct({ maxResults: Schema.Int, maxResultBytes: Schema.Int }),
  ),
  requiresHandler: Schema.Boolean,
  /** What its program may call, and how often in one call (CM-01); absent for a tool that calls nothing. */
  programmaticTools: Schema.optionalKey(
    Schema.Struct({ toolNames: Schema.Array(Schema.String), maxCalls: Schema.Int }),
  ),
  toolDigest: Digest,
  parametersSchema: Schema.Json,
  successSchema: Schema.Json,
  failureSchema: Schema.NullOr(Schema.Json),
});
export type AgentToolView = typeof AgentToolView.Type;

/** What one run of an agent may use. */
export const RunBudgets = Schema.Struct({
  maxTurns: Schema.Int,
  maxToolCalls: Schema.Int,
  maxDurationMillis: Schema.Int,
  toolConcurrency: Schema.Int,
});

export const AgentView = Schema.Struct({
  agentId: AgentId,
  instructions: Schema.String,
  definitionDigest: Digest,
  inputSchema: Schema.Json,
  budgets: RunBudgets,
  toolCount: Schema.Int,
  tools: Schema.Array(AgentToolView),
  exposure: Schema.NullOr(
    Schema.Struct({
      initialToolNames: Schema.Array(Schema.String),
      maxTools: Schema.Int,
      maxSchemaBytes: Schema.Int,
    }),
  ),
  policyInstalled: Schema.Boolean,
  visibilityInstalled: Schema.Boolean,
  /** Ready-made inputs to try, where the agent offers any. */
  examples: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      title: Schema.String,
      shows: Schema.String,
      input: Schema.Json,
    }),
  ),
});
export type AgentView = typeof AgentView.Type;

export const WorkerView = Schema.Struct({
  workerId: WorkerId,
  address: Schema.String,
  startedAt: EpochMillis,
  heartbeatAt: EpochMillis,
  state: Schema.Literals(["alive", "silent", "stopped"]),
  threads: Schema.Int,
  lastTakeoverAt: Schema.NullOr(EpochMillis),
});
export type WorkerView = typeof WorkerView.Type;
