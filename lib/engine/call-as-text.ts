/**
 * A tool call that an endpoint gave as text, in an answer that says it is finished
 * (R77). Only found, never started: the endpoint has read no arguments out of it.
 * Pure, and bounded whatever the text is.
 */
import * as Predicate from "effect/Predicate";
import * as Result from "effect/Result";
import { parseJson } from "#lib/contract/json/secure-parse.ts";

/** The tool that a text calls, and how the call is spelled. */
export interface CallAsText {
  readonly toolName: string;
  readonly spelling: "json" | "tool_call" | "tool_calls" | "function";
}

/** A longer text is not looked at: an answer, not a call. */
const maxLength = 262_144;
/** Calls of one text that are looked at. */
const maxCalls = 64;

/** Fields that a call may have, and nothing else: an answer that has a name says more than that. */
const callFields: ReadonlySet<string> = new Set([
  "name",
  "arguments",
  "parameters",
  "id",
  "type",
  "function",
  "call_id",
  "tool_call_id",
]);

const parsed = (text: string): unknown => Result.getOrUndefined(parseJson(text.trim()));

/** An object, or its JSON text as chat completions have it. */
const isArguments = (value: unknown): boolean =>
  Predicate.isString(value)
    ? value.trim().startsWith("{") && Predicate.isObject(parsed(value))
    : Predicate.isObject(value);

/** The tool that a call's JSON names; undefined for any other value. */
const nameInCall = (value: unknown): string | undefined => {
  if (!Predicate.isObject(value) || Array.isArray(value)) return undefined;
  if (!Object.keys(value).every((key) => callFields.has(key))) return undefined;
  // Read by own keys: a parsed object has no others that count.
  const field = (key: string): unknown => Object.getOwnPropertyDescriptor(value, key)?.value;
  const name = field("name");
  if (name === undefined && field("function") !== undefined) return nameInCall(field("function"));
  return Predicate.isString(name) && isArguments(field("arguments") ?? field("parameters"))
    ? name
    : undefined;
};

/** The tools that a JSON text names, when it is one call or a list of calls and nothing else. */
const namesInJson = (text: string): ReadonlyArray<string> => {
  const value = parsed(text);
  const calls = Array.isArray(value) ? value.slice(0, maxCalls) : [value];
  const names = calls.map(nameInCall);
  return names.every(Predicate.isString) ? names : [];
};

/** `<function=NAME>...</function>`, once or several times. */
const namesInFunctions = (text: string): ReadonlyArray<string> => {
  if (!text.startsWith("<function=") || !text.endsWith("</function>")) return [];
  return blocks(text, "<function=", "</function>").flatMap((block) => {
    const end = block.indexOf(">");
    return end === -1 ? [] : [block.slice(0, end).trim()];
  });
};

/** What stands between the tags, when the text is such blocks and white space between them. */
const blocks = (text: string, open: string, close: string): ReadonlyArray<string> => {
  const found: Array<string> = [];
  let at = 0;
  while (at < text.length && found.length < maxCalls) {
    if (!text.startsWith(open, at)) return [];
    const from = at + open.length;
    const end = text.indexOf(close, from);
    // Where the closing tag was the stop sequence, the text ends without it.
    found.push(text.slice(from, end === -1 ? text.length : end));
    if (end === -1) return found;
    at = end + close.length;
    while (at < text.length && text.charAt(at).trim() === "") at += 1;
  }
  return found;
};

const namesInToolCalls = (text: string): ReadonlyArray<string> => {
  const inner = blocks(text, "<tool_call>", "</tool_call>").map((block) => block.trim());
  const names = inner.map((block) => [...namesInJson(block), ...namesInFunctions(block)]);
  return names.every((of) => of.length > 0) ? names.flat() : [];
};

/** `[TOOL_CALLS][{...}]`, or `[TOOL_CALLS]NAME{...}` and `[TOOL_CALLS]NAME[ARGS]{...}`. */
const namesInMarker = (text: string): ReadonlyArray<string> => {
  const rest = text.slice("[TOOL_CALLS]".length).trim();
  if (rest.startsWith("[") || rest.startsWith("{")) return namesInJson(rest);
  const end = rest.indexOf("{");
  if (end === -1 || !isArguments(rest.slice(end))) return [];
  return [rest.slice(0, end).replace("[ARGS]", "").trim()];
};

/** What a reasoning model thought comes before what it answers. */
const withoutThoughts = (text: string): string => {
  if (!text.startsWith("<think>")) return text;
  const end = text.indexOf("</think>");
  return end === -1 ? text : text.slice(end + "</think>".length).trim();
};

const spelled = (text: string): readonly [CallAsText["spelling"], ReadonlyArray<string>] => {
  if (text.startsWith("<tool_call>")) return ["tool_call", namesInToolCalls(text)];
  if (text.startsWith("[TOOL_CALLS]")) return ["tool_calls", namesInMarker(text)];
  if (text.startsWith("<function=")) return ["function", namesInFunctions(text)];
  if (text.startsWith("{") || text.startsWith("[")) return ["json", namesInJson(text)];
  return ["json", []];
};

/**
 * @param text a final answer
 * @param offered the tools of the request that it answers
 * @returns the first offered tool that the text calls, when the text is calls and nothing else
 */
export const findCallAsText = (
  text: string,
  offered: ReadonlyArray<string>,
): CallAsText | undefined => {
  if (offered.length === 0 || text.length > maxLength) return undefined;
  const [spelling, names] = spelled(withoutThoughts(text.trim()));
  const toolName = names.find((name) => offered.includes(name));
  return toolName === undefined ? undefined : { toolName, spelling };
};
