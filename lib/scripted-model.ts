/**
 * A language model that says what you wrote down, for tests and examples of
 * agents: no network, no clock of its own, no randomness (RT-04). Its parts go
 * through the real toolkit, so a script that no provider could produce fails
 * like one would.
 */
export {
  json,
  providerCall,
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedPart,
  type ScriptedToolCall,
  type ScriptedTurn,
  text,
  toolCalls,
  toolResultsOf,
  type RecordedRequest,
  type RecordedTool,
  type TurnScript,
} from "#lib/testing/ScriptedModel.ts";
