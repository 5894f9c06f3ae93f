import { assert, describe, it } from "@effect/vitest";
import { OpenAiClient, OpenAiLanguageModel } from "@effect/ai-openai";
import { Effect, Layer, Schema } from "effect";
import { FetchHttpClient } from "effect/unstable/http";
import { Tool, Toolkit } from "effect/unstable/ai";
import * as Agent from "#lib/agent/Agent.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ModelCodec } from "#lib/engine/ModelCodec.ts";
import { mendRequest } from "#server/model/mend-request.ts";
import { mendResponses } from "#server/model/mend-responses.ts";
import { rawEndpoint } from "#tests/model/raw-endpoint.ts";

const reasoning = (id: string, encrypted?: string) => ({
  type: "reasoning",
  id,
  summary: [],
  ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
});
const call = { type: "function_call", call_id: "call_1", name: "ping", arguments: "{}" };

describe("a request to a Responses endpoint", () => {
  it("[R72] that stores nothing carries no reasoning item without its content, and every other item", () => {
    const kept = [reasoning("rs_1", "sealed"), call];
    assert.deepStrictEqual(
      mendRequest({ store: false, input: [reasoning("rs_2"), ...kept, reasoning("rs_3", "")] }),
      { store: false, input: kept },
    );
    const whole = { store: false, input: kept };
    assert.strictEqual(mendRequest(whole), whole);
  });

  it("[R71] that stores is left as it is: its ids can be looked up", () => {
    for (const body of [{ input: [reasoning("rs_1"), call] }, { store: true, input: [call] }])
      assert.strictEqual(mendRequest(body), body);
  });

  it("[R73] carries one reasoning item once", () => {
    assert.deepStrictEqual(
      mendRequest({ input: [reasoning("rs_1", "sealed"), call, reasoning("rs_1", "sealed")] }),
      { input: [reasoning("rs_1", "sealed"), call] },
    );
  });

  it("is left alone when it is no such request", () => {
    for (const body of [null, "text", { input: "hi" }, { input: [null, 1, []] }])
      assert.strictEqual(mendRequest(body), body);
  });
});

const ping = { ...call, id: "fc_1", status: "completed" };
const answer = (item: object) =>
  [
    { type: "response.created", response: { id: "r", model: "m", created_at: 1, output: [] } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.output_item.added", output_index: 1, item: { ...ping, arguments: "" } },
    { type: "response.output_item.done", output_index: 1, item: ping },
    { type: "response.completed", response: { id: "r", model: "m", created_at: 1, output: [] } },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join("");

describe("a run over the Responses wire that stores nothing", () => {
  const sent = Effect.fnUntraced(function* (encrypted: string | undefined) {
    const { bodies, url } = yield* rawEndpoint({
      contentType: "text/event-stream",
      body: answer(reasoning("rs_1", encrypted)),
    });
    const toolkit = Toolkit.make(Tool.make("ping", { success: Schema.String }));
    const agent = Agent.make("pinger", {
      input: Schema.String,
      output: Schema.String,
      instructions: "Go.",
      toolkit,
      policy: { maxTurns: 2, onExhaustion: "fail" },
    });
    const model = OpenAiLanguageModel.layer({ model: "gpt-5.2", config: { store: false } }).pipe(
      Layer.provide(OpenAiClient.layer({ apiUrl: url, transformClient: mendResponses })),
      Layer.provide(FetchHttpClient.layer),
    );
    yield* Effect.exit(AgentRuntime.run(agent, "go")).pipe(
      Effect.provide([
        toolkit.toLayer({ ping: () => Effect.succeed("pong") }),
        model,
        Layer.succeed(ModelCodec, ModelCodec.responses),
      ]),
    );
    return bodies.map((body): string => body);
  });

  it.effect(
    "[R16][R71][R72] sends its whole history itself: reasoning with its content, and without it no id that leads nowhere",
    () =>
      Effect.gen(function* () {
        const [, sealed] = yield* sent("sealed");
        assert.include(sealed, "rs_1");
        assert.include(sealed, "sealed");
        const [, dangling] = yield* sent(undefined);
        assert.include(dangling, "pong");
        assert.notInclude(dangling, "rs_1");
        assert.notInclude(sealed, "previous_response_id");
      }),
  );
});
