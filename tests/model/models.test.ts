import { OpenAiClient, OpenAiLanguageModel } from "@effect/ai-openai";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Option, Redacted, Schema, Stream } from "effect";
import { LanguageModel, Tool } from "effect/unstable/ai";
import { FetchHttpClient } from "effect/unstable/http";

import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { makeRequestToolkit } from "#lib/engine/RequestToolkit.ts";
import { mendResponses } from "#server/model/mend-responses.ts";
import { ModelBinding } from "#server/model/ModelBinding.ts";
import { modelLayer, type ModelSettings } from "#server/model/Models.ts";

import { rawEndpoint } from "./raw-endpoint.ts";

const nothingSet: ModelSettings = {
  openAiKey: Option.none(),
  openAiBaseUrl: Option.none(),
  openAiModel: Option.none(),
  anthropicKey: Option.none(),
  anthropicModel: Option.none(),
};
const key = Option.some(Redacted.make("key"));

const bindingOf = (settings: Partial<ModelSettings>) =>
  ModelBinding.pipe(Effect.provide(modelLayer({ ...nothingSet, ...settings })));

const Ping = Tool.make("ping", {
  parameters: Schema.Struct({ loud: Schema.optionalKey(Schema.Boolean) }),
  success: Schema.String,
});
const FindUser = Tool.make("find_user_id_by_email", {
  parameters: Schema.Struct({ email: Schema.String }),
  success: Schema.String,
});
const requestToolkit = makeRequestToolkit([Ping, FindUser], ModelCodec.responses);

/** The request toolkit's handlers are never called, so nothing but the model is needed; its wide tool type cannot say so. */
const withModel =
  (model: Layer.Layer<LanguageModel.LanguageModel, unknown>) =>
  <A, E>(effect: Effect.Effect<A, E, unknown>): Effect.Effect<A, unknown> =>
    Effect.provide(effect as Effect.Effect<A, E, LanguageModel.LanguageModel>, model);

describe("the model that the settings name", () => {
  it.effect("is the rehearsal model without any, and says that it is one", () =>
    Effect.gen(function* () {
      const binding = yield* bindingOf({});
      assert.strictEqual(binding.provider, "rehearsal");
      assert.isTrue(binding.isRehearsal);
      assert.strictEqual(binding.modelId, "rehearsal");
    }),
  );

  it.effect("is the endpoint of one's own before OpenAI, and OpenAI before Anthropic", () =>
    Effect.gen(function* () {
      const own = yield* bindingOf({
        openAiBaseUrl: Option.some("http://127.0.0.1:1/v1"),
        openAiModel: Option.some("llama"),
        openAiKey: key,
        anthropicKey: key,
      });
      assert.deepEqual(
        [own.provider, own.modelId, own.codec],
        ["openai-compat", "llama", ModelCodec.plain],
      );
      const openAi = yield* bindingOf({ openAiKey: key, anthropicKey: key });
      assert.deepEqual(
        [openAi.provider, openAi.codec, openAi.isRehearsal],
        ["openai", ModelCodec.responses, false],
      );
      const anthropic = yield* bindingOf({
        anthropicKey: key,
        anthropicModel: Option.some("claude-x"),
      });
      assert.deepEqual(
        [anthropic.provider, anthropic.modelId, anthropic.codec],
        ["anthropic", "claude-x", ModelCodec.anthropic],
      );
    }),
  );
});

describe("the rehearsal model over real HTTP, through the provider package", () => {
  const Rehearsal = modelLayer(nothingSet);
  const prompt = "maya.okafor@example.com asks: where is order #W1000001?";

  it.effect("streams calls of offered tools with their arguments", () =>
    Effect.gen(function* () {
      const parts = yield* LanguageModel.streamText({
        prompt,
        toolkit: requestToolkit,
        disableToolCallResolution: true,
      }).pipe(Stream.runCollect);
      const calls = parts.filter((part) => part.type === "tool-call");
      assert.deepEqual(
        calls.map(({ name, params }) => [name, params]),
        [["find_user_id_by_email", { email: "maya.okafor@example.com" }]],
      );
      assert.strictEqual(parts.find((part) => part.type === "finish")?.reason, "tool-calls");
      assert.strictEqual(
        parts.find((part) => part.type === "response-metadata")?.modelId,
        "rehearsal",
      );
    }).pipe(withModel(Rehearsal)),
  );

  it.effect("answers in one piece as it streams: the same words", () =>
    Effect.gen(function* () {
      const options = {
        prompt: "Good morning",
        toolkit: requestToolkit,
        disableToolCallResolution: true,
      } as const;
      const whole = yield* LanguageModel.generateText(options);
      const parts = yield* LanguageModel.streamText(options).pipe(Stream.runCollect);
      const streamed = parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
      assert.strictEqual(streamed, whole.text);
      assert.include(whole.text, "no AI");
      assert.isAbove(parts.filter((part) => part.type === "text-delta").length, 3);
    }).pipe(withModel(Rehearsal)),
  );

  it.effect("calls nothing when the request forbids tools", () =>
    Effect.gen(function* () {
      const answer = yield* LanguageModel.generateText({
        prompt,
        toolkit: requestToolkit,
        toolChoice: "none",
        disableToolCallResolution: true,
      });
      assert.deepEqual(answer.toolCalls, []);
      assert.include(answer.text, "not offered");
    }).pipe(withModel(Rehearsal)),
  );
});

const gatewayStream = [
  'data: {"type":"response.created","response":{"id":"resp_1","model":"m","created_at":1,"output":[]}}',
  'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ping","arguments":"","status":"in_progress"}}',
  'data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":""}',
  'data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ping","arguments":"","status":"completed"}}',
  'data: {"type":"response.completed","response":{"id":"resp_1","model":"m","created_at":1,"output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ping","arguments":"","status":"completed"}]}}',
  "",
].join("\n\n");

const responsesModel = (apiUrl: string, mended: boolean) =>
  OpenAiLanguageModel.layer({ model: "m" }).pipe(
    Layer.provide(
      OpenAiClient.layer({ apiUrl, ...(mended ? { transformClient: mendResponses } : {}) }),
    ),
    Layer.provide(FetchHttpClient.layer),
  );

const collectCalls = LanguageModel.streamText({
  prompt: "ping",
  toolkit: requestToolkit,
  disableToolCallResolution: true,
}).pipe(
  Stream.runCollect,
  Effect.map((parts) =>
    parts.flatMap((part) => (part.type === "tool-call" ? [[part.name, part.params]] : [])),
  ),
);

describe("a tool without any parameters", () => {
  it.effect("can be called on the strict Responses wire", () =>
    Effect.gen(function* () {
      const { url } = yield* rawEndpoint({ contentType: "text/event-stream", body: gatewayStream });
      const toolkit = makeRequestToolkit(
        [Tool.make("ping", { success: Schema.String })],
        ModelCodec.responses,
      );
      const parts = yield* LanguageModel.streamText({
        prompt: "ping",
        toolkit,
        disableToolCallResolution: true,
      }).pipe(Stream.runCollect, withModel(responsesModel(url, true)));
      const calls = parts.filter((part) => part.type === "tool-call");
      assert.deepEqual(
        calls.map(({ params }) => params),
        [{}],
      );
    }),
  );
});

describe("a gateway without sequence numbers and with empty arguments", () => {
  it.effect(
    "is understood through the filter, and is why there is one: without it the response fails",
    () =>
      Effect.gen(function* () {
        const { url } = yield* rawEndpoint({
          contentType: "text/event-stream",
          body: gatewayStream,
        });
        assert.deepEqual(yield* collectCalls.pipe(withModel(responsesModel(url, true))), [
          ["ping", {}],
        ]);
        const unmended = yield* Effect.exit(
          collectCalls.pipe(withModel(responsesModel(url, false))),
        );
        assert.strictEqual(unmended._tag, "Failure");
      }),
  );

  it.effect("is understood in one piece too", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({
        id: "resp_1",
        object: "response",
        model: "m",
        created_at: 1,
        output: [
          {
            type: "function_call",
            id: "fc_1",
            call_id: "call_1",
            name: "ping",
            arguments: "",
            status: "completed",
          },
        ],
      });
      const { url, bodies } = yield* rawEndpoint({ contentType: "application/json", body });
      const answer = yield* LanguageModel.generateText({
        prompt: "ping",
        toolkit: requestToolkit,
        disableToolCallResolution: true,
      }).pipe(withModel(responsesModel(url, true)));
      assert.deepEqual(
        answer.toolCalls.map(({ name, params }) => [name, params]),
        [["ping", {}]],
      );
      assert.include(bodies[0], '"strict":true');
    }),
  );
});

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "llama", choices: [{ index: 0, delta, finish_reason }] })}`;

const compatStream = [
  chunk({ role: "assistant", content: null }),
  chunk({
    tool_calls: [
      {
        index: 0,
        id: "call_1",
        type: "function",
        function: { name: "find_user_id_by_email", arguments: "" },
      },
    ],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"email":"a@' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: 'example.com"}' } }] }),
  chunk({}, "tool_calls"),
  "data: [DONE]",
  "",
].join("\n\n");

describe("an endpoint of one's own, over chat completions", () => {
  it.effect("gets the plain schemas under the model's name, and its streamed calls are read", () =>
    Effect.gen(function* () {
      const { url, bodies } = yield* rawEndpoint({
        contentType: "text/event-stream",
        body: compatStream,
      });
      const settings = {
        ...nothingSet,
        openAiBaseUrl: Option.some(`${url}/v1`),
        openAiModel: Option.some("llama"),
      };
      const parts = yield* LanguageModel.streamText({
        prompt: "find a@example.com",
        toolkit: makeRequestToolkit([FindUser], ModelCodec.plain),
        disableToolCallResolution: true,
      }).pipe(Stream.runCollect, withModel(modelLayer(settings)));
      const calls = parts.filter((part) => part.type === "tool-call");
      assert.deepEqual(
        calls.map(({ name, params }) => [name, params]),
        [["find_user_id_by_email", { email: "a@example.com" }]],
      );
      assert.include(bodies[0], '"model":"llama"');
    }),
  );
});
