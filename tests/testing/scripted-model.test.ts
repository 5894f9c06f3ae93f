import { assert, describe, it } from "@effect/vitest";
import { Cause, Effect, Exit, Fiber, Schema, Stream } from "effect";
import { TestClock } from "effect/testing";
import { LanguageModel, Model, Tool, Toolkit } from "effect/unstable/ai";
import * as Script from "#lib/testing/ScriptedModel.ts";
import { ScriptedModel } from "#lib/testing/ScriptedModel.ts";

const Lookup = Tool.make("lookup", {
  description: "Read one order.",
  parameters: Schema.Struct({ orderId: Schema.String }),
  success: Schema.String,
});
const toolkit = Toolkit.make(Lookup);
const ask = { prompt: "Where is W1?", toolkit, disableToolCallResolution: true } as const;
const call = Script.toolCalls([{ id: "c1", name: "lookup", params: { orderId: "W1" } }], {
  text: "One moment.",
});

describe("ScriptedModel", () => {
  it.effect(
    "[RT-04] a scripted call comes back decoded by the real toolkit, and the request is recorded as a provider would get it",
    () =>
      Effect.gen(function* () {
        const response = yield* LanguageModel.generateText({ ...ask, toolChoice: "required" });
        assert.strictEqual(response.text, "One moment.");
        assert.deepStrictEqual(
          response.toolCalls.map((part) => [part.id, part.name, part.params]),
          [["c1", "lookup", { orderId: "W1" }]],
        );
        assert.strictEqual(response.finishReason, "tool-calls");

        const [request, ...others] = yield* (yield* ScriptedModel).requests;
        assert.deepStrictEqual(others, []);
        assert.strictEqual(request?.method, "generateText");
        assert.strictEqual(request?.toolChoice, "required");
        assert.deepStrictEqual(
          request?.tools.map((tool) => [tool.name, tool.description]),
          [["lookup", "Read one order."]],
        );
        assert.deepStrictEqual(request?.tools[0]?.jsonSchema["required"], ["orderId"]);
        assert.include(JSON.stringify(request?.encodedPrompt), "Where is W1?");
        assert.strictEqual(yield* Model.ProviderName, "scripted");
      }).pipe(Effect.provide(ScriptedModel.layer([call]))),
  );

  it.effect(
    "[RT-04] streamed, text and arguments arrive in deltas of the asked size and say the same as unstreamed",
    () =>
      Effect.gen(function* () {
        const parts = yield* Stream.runCollect(LanguageModel.streamText(ask));
        const text = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
        const args = parts.flatMap((part) =>
          part.type === "tool-params-delta" ? [part.delta] : [],
        );
        assert.isTrue([...text, ...args].every((delta) => delta.length <= 3));
        assert.isAbove(args.length, 3);
        assert.strictEqual(text.join(""), "One moment.");
        assert.strictEqual(args.join(""), `{"orderId":"W1"}`);
        const whole = parts.flatMap((part) => (part.type === "tool-call" ? [part.params] : []));
        assert.deepStrictEqual(whole, [{ orderId: "W1" }]);
        assert.strictEqual(parts.at(-1)?.type, "finish");
      }).pipe(Effect.provide(ScriptedModel.layer([call], { chunkSize: 3 }))),
  );

  it.effect("[R56] deltas of two calls can alternate, and both are whole", () =>
    Effect.gen(function* () {
      const parts = yield* Stream.runCollect(LanguageModel.streamText(ask));
      const order = parts.flatMap((part) => (part.type === "tool-params-delta" ? [part.id] : []));
      assert.deepStrictEqual(order.slice(0, 4), ["a", "b", "a", "b"]);
      const whole = parts.flatMap((part) =>
        part.type === "tool-call" ? [[part.id, part.params]] : [],
      );
      assert.deepStrictEqual(whole, [
        ["a", { orderId: "W1" }],
        ["b", { orderId: "W2" }],
      ]);
    }).pipe(
      Effect.provide(
        ScriptedModel.layer(
          [
            Script.toolCalls(
              [
                { id: "a", name: "lookup", params: { orderId: "W1" } },
                { id: "b", name: "lookup", params: { orderId: "W2" } },
              ],
              { interleaved: true },
            ),
          ],
          { chunkSize: 1 },
        ),
      ),
    ),
  );

  it.effect("[R59] a cut stream ends without a finish and without the call that was cut", () =>
    Effect.gen(function* () {
      const parts = yield* Stream.runCollect(LanguageModel.streamText(ask));
      assert.strictEqual(parts.length, 6);
      assert.isFalse(parts.some((part) => part.type === "finish" || part.type === "tool-call"));
      assert.isTrue(parts.some((part) => part.type === "tool-params-delta"));
    }).pipe(Effect.provide(ScriptedModel.layer([{ ...call, cutAfter: 6 }]))),
  );

  it.effect(
    "[T-15] arguments that are no JSON, or that pollute a prototype, fail the response as a provider's would",
    () =>
      Effect.gen(function* () {
        for (const argumentsText of ["{", `{"__proto__":{"x":1}}`]) {
          const layer = ScriptedModel.layer([
            Script.toolCalls([{ id: "c", name: "lookup", argumentsText }]),
          ]);
          const error = yield* Effect.flip(LanguageModel.generateText(ask)).pipe(
            Effect.provide(layer),
          );
          assert.strictEqual(error._tag, "AiError");
          const streamed = ScriptedModel.layer([
            Script.toolCalls([{ id: "c", name: "lookup", argumentsText }]),
          ]);
          const parts = yield* Effect.flip(Stream.runCollect(LanguageModel.streamText(ask))).pipe(
            Effect.provide(streamed),
          );
          assert.strictEqual(parts._tag, "AiError");
        }
      }),
  );

  it.effect("a turn can wait on the test clock and answer from the request it got", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(LanguageModel.generateText({ prompt: "hello" }));
      yield* TestClock.adjust("4 seconds");
      assert.isUndefined(fiber.pollUnsafe());
      yield* TestClock.adjust("1 second");
      const response = yield* Fiber.join(fiber);
      assert.strictEqual(response.text, "request 0");
    }).pipe(
      Effect.provide(
        ScriptedModel.layer([
          (request) => Script.text(`request ${request.index}`, { delay: "5 seconds" }),
        ]),
      ),
    ),
  );

  it.effect("a script at its end is a defect that says so, and more turns can be added", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(LanguageModel.generateText({ prompt: "hello" }));
      assert.isTrue(
        Exit.isFailure(exit) &&
          Cause.hasDies(exit.cause) &&
          Cause.pretty(exit.cause).includes("script"),
      );
      const model = yield* ScriptedModel;
      yield* model.push(Script.json({ ok: true }));
      assert.strictEqual(yield* model.remaining, 1);
      const response = yield* LanguageModel.generateText({ prompt: "again" });
      assert.strictEqual(response.text, `{"ok":true}`);
    }).pipe(Effect.provide(ScriptedModel.layer([]))),
  );
});
