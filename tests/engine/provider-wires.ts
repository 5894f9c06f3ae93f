/** The bytes that each provider's wire carries for a response of tool calls, and the model that reads them. */
import { AnthropicClient, AnthropicLanguageModel } from "@effect/ai-anthropic";
import { OpenAiClient, OpenAiLanguageModel } from "@effect/ai-openai";
import {
  OpenAiClient as CompatClient,
  OpenAiLanguageModel as CompatLanguageModel,
} from "@effect/ai-openai-compat";
import { Layer, Redacted } from "effect";
import type { LanguageModel } from "effect/unstable/ai";
import { FetchHttpClient } from "effect/unstable/http";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { mendResponses } from "#server/model/mend-responses.ts";

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
}

export interface ProviderWire {
  readonly name: string;
  readonly codec: ModelCodec["Service"];
  readonly model: (url: string) => Layer.Layer<LanguageModel.LanguageModel>;
  readonly whole: (calls: ReadonlyArray<WireCall>) => string;
  readonly streamed: (calls: ReadonlyArray<WireCall>) => string;
  /** Schemas by tool name, as the request carried them. */
  readonly schemasOf: (requestBody: string) => ReadonlyArray<readonly [string, unknown]>;
}

const apiKey = Redacted.make("key");
const sse = (events: ReadonlyArray<object>, named = false): string =>
  events
    .map(
      (event) =>
        `${named && "type" in event ? `event: ${String(event.type)}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
    )
    .join("");
const pieces = (text: string): ReadonlyArray<string> => text.match(/[\s\S]{1,7}/g) ?? [];

interface RequestTool {
  readonly name: string;
  readonly parameters: unknown;
  readonly input_schema: unknown;
  readonly function: { readonly name: string; readonly parameters: unknown };
}
const toolsOf = (requestBody: string): ReadonlyArray<RequestTool> =>
  (JSON.parse(requestBody) as { readonly tools: ReadonlyArray<RequestTool> }).tools;

const functionCall = (
  { argumentsText, id, name }: WireCall,
  status: string,
  shown = argumentsText,
) => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: shown,
  status,
});
const response = (output: ReadonlyArray<object>) => ({
  id: "resp_1",
  object: "response",
  model: "m",
  created_at: 1,
  output,
});

export const responses: ProviderWire = {
  name: "openai Responses",
  codec: ModelCodec.responses,
  model: (apiUrl) =>
    OpenAiLanguageModel.layer({ model: "m" }).pipe(
      Layer.provide(OpenAiClient.layer({ apiUrl, apiKey, transformClient: mendResponses })),
      Layer.provide(FetchHttpClient.layer),
    ),
  whole: (calls) => JSON.stringify(response(calls.map((call) => functionCall(call, "completed")))),
  streamed: (calls) =>
    sse([
      { type: "response.created", response: response([]) },
      ...calls.flatMap((call, output_index) => [
        {
          type: "response.output_item.added",
          output_index,
          item: functionCall(call, "in_progress", ""),
        },
        ...pieces(call.argumentsText).map((delta) => ({
          type: "response.function_call_arguments.delta",
          item_id: `fc_${call.id}`,
          output_index,
          delta,
        })),
        {
          type: "response.function_call_arguments.done",
          item_id: `fc_${call.id}`,
          output_index,
          arguments: call.argumentsText,
        },
        { type: "response.output_item.done", output_index, item: functionCall(call, "completed") },
      ]),
      {
        type: "response.completed",
        response: response(calls.map((call) => functionCall(call, "completed"))),
      },
    ]),
  schemasOf: (body) => toolsOf(body).map((tool) => [tool.name, tool.parameters]),
};

const toolCall = ({ argumentsText, id, name }: WireCall) => ({
  id,
  type: "function",
  function: { name, arguments: argumentsText },
});
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chat_1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});

export const chatCompletions: ProviderWire = {
  name: "chat completions",
  codec: ModelCodec.plain,
  model: (apiUrl) =>
    CompatLanguageModel.layer({ model: "m" }).pipe(
      Layer.provide(CompatClient.layer({ apiUrl, apiKey })),
      Layer.provide(FetchHttpClient.layer),
    ),
  whole: (calls) =>
    JSON.stringify({
      id: "chat_1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: null, tool_calls: calls.map(toolCall) },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  streamed: (calls) =>
    `${sse([
      chunk({ role: "assistant", content: null }),
      ...calls.flatMap((call, index) => [
        chunk({ tool_calls: [{ index, ...toolCall({ ...call, argumentsText: "" }) }] }),
        ...pieces(call.argumentsText).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      chunk({}, "tool_calls"),
    ])}data: [DONE]\n\n`,
  schemasOf: (body) => toolsOf(body).map((tool) => [tool.function.name, tool.function.parameters]),
};

const message = (content: ReadonlyArray<object>, stop_reason: string | null) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason,
  stop_sequence: null,
  usage: {
    input_tokens: 1,
    output_tokens: 1,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
    cache_creation: null,
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
  },
  container: null,
  context_management: null,
});
const toolUse = ({ id, name }: WireCall, input: unknown) => ({
  type: "tool_use",
  id,
  name,
  input,
  caller: { type: "direct" },
});

export const anthropic: ProviderWire = {
  name: "anthropic",
  codec: ModelCodec.anthropic,
  model: (apiUrl) =>
    AnthropicLanguageModel.layer({ model: "m", config: { max_tokens: 100 } }).pipe(
      Layer.provide(AnthropicClient.layer({ apiUrl, apiKey })),
      Layer.provide(FetchHttpClient.layer),
    ),
  whole: (calls) =>
    JSON.stringify(
      message(
        calls.map((call) =>
          toolUse(call, JSON.parse(call.argumentsText === "" ? "{}" : call.argumentsText)),
        ),
        "tool_use",
      ),
    ),
  streamed: (calls) =>
    sse(
      [
        { type: "message_start", message: message([], null) },
        ...calls.flatMap((call, index) => [
          { type: "content_block_start", index, content_block: toolUse(call, {}) },
          ...pieces(call.argumentsText).map((partial_json) => ({
            type: "content_block_delta",
            index,
            delta: { type: "input_json_delta", partial_json },
          })),
          { type: "content_block_stop", index },
        ]),
        {
          type: "message_delta",
          delta: { stop_reason: "tool_use", stop_sequence: null, container: null },
          usage: {
            input_tokens: 1,
            output_tokens: 1,
            cache_creation_input_tokens: null,
            cache_read_input_tokens: null,
            server_tool_use: null,
          },
          context_management: null,
        },
        { type: "message_stop" },
      ],
      true,
    ),
  schemasOf: (body) => toolsOf(body).map((tool) => [tool.name, tool.input_schema]),
};

export const wires = [responses, chatCompletions, anthropic] as const;
