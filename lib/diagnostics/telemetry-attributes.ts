/**
 * Every attribute name this library puts on spans and logs, in one place
 * (`TE-01`, `TE-05`). Values are names, ids and classifications from closed sets;
 * never parameters, results, prompts or error text (`TE-02`).
 */

/** Attributes of one application tool call. */
export const toolAttribute = {
  operationName: "gen_ai.operation.name",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  agentName: "gen_ai.agent.name",
  conversationId: "gen_ai.conversation.id",
  /** The tool's configuration: `error` or `return`. */
  failureMode: "effect_agent.tool.failure_mode",
  /**
   * The route a failure really took: `propagated`, `returned-to-model` or
   * `returned-to-caller`; absent on success and on interruption (`TE-03`).
   */
  failureHandling: "effect_agent.tool.failure_handling",
  executionClass: "effect_agent.tool.execution_class",
  /** `model` or `programmatic`. */
  invocationKind: "effect_agent.tool.invocation_kind",
  parentCallId: "effect_agent.tool.parent_call.id",
  sequenceIndex: "effect_agent.tool.sequence_index",
  outcome: "effect_agent.tool.outcome",
} as const;

/** Attributes of one run. */
export const runAttribute = {
  agentName: "gen_ai.agent.name",
  conversationId: "gen_ai.conversation.id",
  runId: "effect_agent.run.id",
  turn: "effect_agent.run.turn",
  attempt: "effect_agent.run.attempt",
  outcome: "effect_agent.run.outcome",
  /** Tag of the error that ended the run, never its message. */
  errorTag: "effect_agent.run.error_tag",
} as const;
