/** Parts that the engine reads and writes itself are what upstream's schemas make of them; an upgrade that changes them fails here. */
import { assert, describe, it } from "@effect/vitest";
import { Effect, Schema } from "effect";
import { Prompt } from "effect/unstable/ai";
import { encodeAssistantParts, promptOf } from "#lib/engine/prompt-parts.ts";

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

  it("[R28] messages are decoded as upstream's prompt decodes them, once and again", () => {
    const plain = {
      role: "tool",
      content: encodedTool.content.slice(0, 1),
    } as Prompt.MessageEncoded;
    const encoded: ReadonlyArray<Prompt.MessageEncoded> = [
      { role: "system", content: "Go." },
      { role: "user", content: [{ type: "text", text: "Now." }] },
      { role: "user", content: "Please." },
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
      null,
      "text",
    ];
    for (const part of broken) {
      for (const role of ["assistant", "tool"]) {
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
