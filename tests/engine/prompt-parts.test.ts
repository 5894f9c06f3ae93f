/** Parts that the engine reads and writes itself are what upstream's schemas make of them; an upgrade that changes them fails here. */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Prompt, Response } from "effect/unstable/ai";
import {
  encodeAssistantParts,
  encodePlainCall,
  encodeResponse,
  plainCalls,
  promptOf,
} from "#lib/engine/prompt-parts.ts";

const about = { openai: { itemId: "i1" } };
const call = Prompt.toolCallPart({
  id: "c1",
  name: "order",
  params: { a: [1, "b"] },
  providerExecuted: false,
});
const parts: ReadonlyArray<Prompt.AssistantMessagePart> = [
  Prompt.textPart({ text: "First this." }),
  Prompt.textPart({ text: "Then that.", options: about }),
  Prompt.reasoningPart({ text: "Hm.", options: about }),
  call,
  Prompt.toolCallPart({ ...call, id: "c2", options: about }),
  Prompt.toolCallPart({ ...call, id: "c3", providerExecuted: true }),
  Prompt.toolResultPart({
    id: "c3",
    name: "order",
    isFailure: false,
    result: null,
    providerExecuted: true,
  }),
  Prompt.filePart({ mediaType: "text/plain", data: "aGk=", fileName: "hi.txt" }),
];
const messages: ReadonlyArray<Prompt.AssistantMessage> = [
  Prompt.assistantMessage({ content: parts }),
  ...parts.map((part) => Prompt.assistantMessage({ content: [part] })),
  Prompt.assistantMessage({ content: [] }),
  Prompt.assistantMessage({ content: [call, call] }),
];

const encode = Schema.encodeSync(Prompt.AssistantMessage);

/** As JSON holds it: the order of the keys says nothing. */
const bySchema = (message: Prompt.AssistantMessage) => {
  const { content } = encode(message);
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
};

const encodedTool: Prompt.MessageEncoded = {
  role: "tool",
  content: [
    { type: "tool-result", id: "c1", name: "order", isFailure: true, result: { no: 1 } },
    {
      type: "tool-result",
      id: "c2",
      name: "order",
      isFailure: false,
      result: [null],
      providerExecuted: false,
      options: about,
    },
  ],
};

describe("prompt parts", () => {
  it.effect("[T-02] an assistant message is encoded as upstream's schema encodes it", () =>
    Effect.gen(function* () {
      for (const message of messages) {
        assert.deepStrictEqual(yield* encodeAssistantParts(message), bySchema(message));
      }
    }),
  );

  it.effect("[T-02] a response of nothing but calls is encoded as upstream encodes any other", () =>
    Effect.gen(function* () {
      const params = { a: [1, "b"] };
      const made = (id: string, metadata = {}) =>
        Response.makePart("tool-call", {
          id,
          name: "order",
          params,
          providerExecuted: id === "c2",
          metadata,
        });
      const calls = [made("c1"), made("c2")];
      const encoded: unknown = plainCalls(calls)?.map((part) => encodePlainCall(part, params));
      assert.deepStrictEqual(encoded, yield* encodeResponse(calls));
      const text = Response.makePart("text", { text: "First this." });
      assert.isUndefined(plainCalls([...calls, text]));
      assert.isUndefined(plainCalls([made("c3", about)]));
    }),
  );

  it("[R28] messages are decoded as upstream's prompt decodes them, once and again", () => {
    const plain = {
      role: "tool",
      content: encodedTool.content.slice(0, 1),
    } as Prompt.MessageEncoded;
    const encoded: ReadonlyArray<Prompt.MessageEncoded> = [
      { role: "system", content: "Go." },
      { role: "user", content: [{ type: "text", text: "Now." }] },
      { role: "user", content: "Please." },
      { role: "user", content: [] },
      { role: "system", content: "Go on.", options: about },
      {
        role: "user",
        content: [
          { type: "text", text: "This", options: about },
          { type: "text", text: "and that" },
        ],
      },
      ...messages.map((message) => encode(message)),
      {
        role: "assistant",
        content: [{ type: "tool-call", id: "c9", name: "order", params: null }],
      },
      { role: "assistant", content: [call], options: about } as never,
      plain,
      encodedTool,
    ];
    const expected = Prompt.make(encoded).content;
    assert.deepStrictEqual(promptOf(encoded).content, expected);
    assert.deepStrictEqual(promptOf(encoded).content, expected);
  });

  it("[F-08] a stored part that is none of a prompt is refused as upstream refuses it", () => {
    const broken: ReadonlyArray<unknown> = [
      { type: "tool-call", id: 1, name: "order", params: {} },
      { type: "tool-call", id: "c1", name: "order" },
      { type: "tool-call", id: "c1", name: "order", params: {}, providerExecuted: "no" },
      { type: "tool-call", id: "c1", name: "order", params: {}, options: { openai: undefined } },
      { type: "tool-result", id: "c1", name: "order", result: 1 },
      { type: "tool-result", id: "c1", name: "order", isFailure: false },
      { type: "text" },
      { type: "text", text: "a", options: [] },
      { type: "tool-call", id: "c1", name: "order", params: {} },
      { type: "tool-result", id: "c1", name: "order", isFailure: false, result: 1 },
      null,
      "text",
    ];
    for (const part of broken) {
      for (const role of ["assistant", "tool", "user", "system", "nobody"]) {
        const message = [{ role, content: [part] }] as never;
        const outcome = (make: () => unknown) => {
          try {
            make();
            return "taken";
          } catch {
            return "refused";
          }
        };
        const name = JSON.stringify([role, part]);
        assert.strictEqual(
          outcome(() => promptOf(message)),
          outcome(() => Prompt.make(message)),
          name,
        );
      }
    }
  });
});
