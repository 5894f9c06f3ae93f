/**
 * What the planner needs of a request: the customer's words, the tools on offer,
 * and what the calls made since those words gave.
 */
import { Option, Schema } from "effect";

import {
  contentText,
  type FunctionTool,
  type InputItem,
  type ResponsesRequest,
} from "./responses-wire.ts";

export interface MadeCall {
  readonly tool: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The result as a JSON value; `undefined` while there is none. */
  readonly result: unknown;
}

export interface Conversation {
  /** The last thing a person said. */
  readonly text: string;
  readonly tools: ReadonlyMap<string, FunctionTool>;
  readonly made: ReadonlyArray<MadeCall>;
}

type Item<Type extends string> = Extract<InputItem, { readonly type: Type }>;
const isCall = (item: InputItem): item is Item<"function_call"> & { readonly arguments: string } =>
  item.type === "function_call" && "arguments" in item;
const isOutput = (
  item: InputItem,
): item is Item<"function_call_output"> & { readonly output: string } =>
  item.type === "function_call_output" && "output" in item;
const isUserMessage = (item: InputItem) => "role" in item && item.role === "user";

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown));
const parseParameters = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)),
);

const offeredTools = (request: ResponsesRequest): ReadonlyMap<string, FunctionTool> => {
  if (request.tool_choice === "none") return new Map();
  const tools = (request.tools ?? []).filter(
    (tool): tool is FunctionTool => tool.type === "function" && "name" in tool,
  );
  return new Map(tools.map((tool) => [tool.name, tool]));
};

export const readConversation = (request: ResponsesRequest): Conversation => {
  const tools = offeredTools(request);
  if (typeof request.input === "string") return { text: request.input, tools, made: [] };
  const items = request.input;
  const start = items.findLastIndex(isUserMessage);
  const message = items[start];
  const since = items.slice(start + 1);
  const results = new Map(
    since.filter(isOutput).map((item) => {
      const text = contentText(item.output);
      return [item.call_id, Option.getOrElse(parseJson(text), () => text)] as const;
    }),
  );
  return {
    text: message !== undefined && "content" in message ? contentText(message.content) : "",
    tools,
    made: since.filter(isCall).map((item) => ({
      tool: item.name,
      parameters: Option.getOrElse(parseParameters(item.arguments), () => ({})),
      result: results.get(item.call_id),
    })),
  };
};
