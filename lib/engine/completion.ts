/**
 * Answering through a tool: the agent names one of its tools as its completion,
 * and the result of that tool's call is the run's output.
 */
import type * as LanguageModel from "effect/unstable/ai/LanguageModel";
import type { CompletionTool } from "#lib/agent/Agent.ts";
import type { ExposureSnapshot } from "#lib/contract/exposure.ts";
import type { DeclaredCall } from "#lib/contract/records.ts";
import type { RunContext } from "./RunContext.ts";
import type { Asking } from "./turn-plan.ts";

/** Whether a success of this call is the answer; a call that a program makes never is. */
export const completesRun = (
  context: RunContext,
  { parentCallId, toolName }: Pick<DeclaredCall, "parentCallId" | "toolName">,
): boolean => parentCallId === undefined && context.definition.completion?.toolName === toolName;

/** What a request must and may declare for it: a last answer declares nothing else. */
export const completionExposure = (
  completion: CompletionTool | undefined,
  isFinalAnswer: boolean,
): {
  readonly mandatory?: ReadonlyArray<string>;
  readonly restrictTo?: ReadonlyArray<string>;
} => {
  const names = completion === undefined ? [] : [completion.toolName];
  return {
    ...(completion?.required === true ? { mandatory: names } : {}),
    ...(isFinalAnswer ? { restrictTo: names } : {}),
  };
};

/** What the model may do in this request (T-16). Where only a call can answer, it must call. */
export const toolChoiceOf = (
  completion: CompletionTool | undefined,
  plan: Asking,
  { exposed }: ExposureSnapshot,
): LanguageModel.ToolChoice<string> => {
  if (exposed.length === 0) return "none";
  if (completion?.required !== true) return "auto";
  return plan._tag === "final-answer" ? { tool: completion.toolName } : "required";
};
