/** Vercel AI SDK, with the mock model of its own test kit. */
import { generateText, simulateReadableStream, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const finish = (unified) => ({ finishReason: { unified, raw: undefined }, usage });

export const makeContender = (workload) => {
  const counter = { handled: 0 };
  const tools = {
    [workload.toolName]: tool({
      description: workload.toolDescription,
      inputSchema: z.object({
        orderId: z.string().min(1),
        quantity: z.number().int().min(1),
        tags: z.array(z.string()),
        address: z.object({ city: z.string(), zip: z.string() }),
      }),
      execute: workload.makeHandler(counter),
    }),
  };
  const written = workload.calls.map(({ id, parameters }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: workload.toolName,
    input: JSON.stringify(parameters),
  }));
  const settings = (model) => ({
    model,
    tools,
    system: "Place orders.",
    prompt: workload.prompt,
    stopWhen: stepCountIs(4),
  });
  const counted = async (run) => {
    counter.handled = 0;
    return { answer: await run(), handled: counter.handled };
  };
  /** Each part of a streamed response as a provider sends it. */
  const streamingModel = () => {
    const stream = (chunks) => ({
      stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
    });
    return new MockLanguageModelV3({
      doStream: [
        stream([
          { type: "stream-start", warnings: [] },
          ...written.flatMap((call) => [
            { type: "tool-input-start", id: call.toolCallId, toolName: call.toolName },
            { type: "tool-input-delta", id: call.toolCallId, delta: call.input },
            { type: "tool-input-end", id: call.toolCallId },
            call,
          ]),
          { type: "finish", ...finish("tool-calls") },
        ]),
        stream([
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta: workload.lastAnswer },
          { type: "text-end", id: "t" },
          { type: "finish", ...finish("stop") },
        ]),
      ],
    });
  };
  return {
    name: "Vercel AI SDK: streamText",
    whole: () =>
      counted(async () => {
        const result = streamText(settings(streamingModel()));
        await result.consumeStream();
        return await result.text;
      }),
    streamed: () =>
      counted(async () => {
        const result = streamText(settings(streamingModel()));
        for await (const part of result.fullStream) if (part.type === "error") throw part.error;
        return await result.text;
      }),
    unstreamed: {
      name: "Vercel AI SDK: generateText, unstreamed",
      whole: () =>
        counted(async () => {
          const responses = [
            { content: written, ...finish("tool-calls"), warnings: [] },
            {
              content: [{ type: "text", text: workload.lastAnswer }],
              ...finish("stop"),
              warnings: [],
            },
          ];
          const model = new MockLanguageModelV3({ doGenerate: responses });
          return (await generateText(settings(model))).text;
        }),
    },
  };
};
