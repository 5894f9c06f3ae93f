/**
 * Upstream fails a whole response over one call that it cannot read, by an error
 * or by an exception and in words of its own per provider. Here the call is named
 * (F-07, X-09, R36). Pure.
 */
import * as Result from "effect/Result";
import * as AiError from "effect/unstable/ai/AiError";
import type * as Tool from "effect/unstable/ai/Tool";
import { AgentToolCallRejected, ModelProtocolError } from "#lib/agent-error.ts";
import { parseJson } from "#lib/contract/json/secure-parse.ts";
import type { ResponseDraft } from "./model-response.ts";

type Tools = Readonly<Record<string, Tool.Any>>;

/** A provider's reader threw; the live value is kept for operators. */
export const unreadable = (defect: unknown): ModelProtocolError =>
  new ModelProtocolError({
    reason: "malformed-response",
    message:
      "The provider's response could not be read; operators find what its reader said in the diagnostic.",
    cause: defect,
  });

/** The rejection that a failure stands for, where it is about one call. */
export const rejectedCall = (
  tools: Tools,
  offered: ReadonlySet<string>,
  draft: ResponseDraft,
  error: AiError.AiError | ModelProtocolError,
): AgentToolCallRejected | undefined => {
  const reason = AiError.isAiError(error) ? error.reason._tag : error.reason;
  const unoffered = [...draft.begun].find(([, name]) => !offered.has(name));
  if (unoffered !== undefined && AiError.isAiError(error))
    return notOffered(tools, unoffered[0], unoffered[1]);
  if (AiError.isAiError(error) && error.reason._tag === "ToolNotFoundError")
    return notOffered(tools, "", error.reason.toolName);
  if (reason !== "ToolParameterValidationError" && reason !== "malformed-response")
    return undefined;
  const unreadableText = [...draft.begun].findLast(([id]) => faultOf(draft, id) !== undefined);
  if (unreadableText !== undefined)
    return malformed(unreadableText[0], unreadableText[1], faultOf(draft, unreadableText[0]));
  return AiError.isAiError(error) && error.reason._tag === "ToolParameterValidationError"
    ? malformed("", error.reason.toolName, undefined)
    : undefined;
};

/** Why the argument text of a call is no JSON; nothing when it is, or when the provider sent none. */
const faultOf = (draft: ResponseDraft, callId: string): string | undefined => {
  const text = draft.argumentTexts.get(callId)?.join("");
  if (text === undefined || text.trim() === "") return undefined;
  const parsed = parseJson(text);
  return Result.isFailure(parsed) ? parsed.failure.message : undefined;
};

const named = (text: string): string => text.slice(0, 128);

const malformed = (
  callId: string,
  toolName: string,
  fault: string | undefined,
): AgentToolCallRejected =>
  new AgentToolCallRejected({
    toolCallId: named(callId),
    toolName: named(toolName),
    reason: "malformed-arguments",
    message: `The arguments of ${named(toolName)}${callId === "" ? "" : ` (call ${named(callId)})`} are not JSON that can be used.${fault === undefined ? "" : ` ${fault}`} Nothing of its batch was started.`,
  });

const notOffered = (tools: Tools, callId: string, toolName: string): AgentToolCallRejected => {
  const isRegistered = Object.hasOwn(tools, toolName);
  return new AgentToolCallRejected({
    toolCallId: named(callId),
    toolName: named(toolName),
    reason: isRegistered ? "unexposed-tool" : "unknown-tool",
    message: `The model called ${JSON.stringify(named(toolName))}, which ${isRegistered ? "this request did not offer" : "is no tool of this agent"}. Nothing of its batch was started.`,
  });
};
