/** OpenAI Agents JS, with the scripted model of its own test kit. Its tracing would send data away, so it is off. */
import { Agent, Runner, setTracingDisabled, tool } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { z } from "zod";

setTracingDisabled(true);

export const makeContender = (workload) => {
  const counter = { handled: 0 };
  const agent = new Agent({
    name: "orders",
    instructions: "Place orders.",
    tools: [
      tool({
        name: workload.toolName,
        description: workload.toolDescription,
        parameters: z.object({
          orderId: z.string().min(1),
          quantity: z.number().int().min(1),
          tags: z.array(z.string()),
          address: z.object({ city: z.string(), zip: z.string() }),
        }),
        execute: workload.makeHandler(counter),
      }),
    ],
  });
  const makeModel = () =>
    new ScriptedModel([
      workload.calls.map(({ id, parameters }) =>
        functionCall(workload.toolName, JSON.stringify(parameters), { callId: id }),
      ),
      [assistantMessage(workload.lastAnswer)],
    ]);
  const counted = async (run) => {
    counter.handled = 0;
    return { answer: await run(), handled: counter.handled };
  };
  const runner = (model) => new Runner({ model, tracingDisabled: true });
  return {
    name: "OpenAI Agents",
    whole: () =>
      counted(async () => (await runner(makeModel()).run(agent, workload.prompt)).finalOutput),
    streamed: () =>
      counted(async () => {
        const result = await runner(makeModel()).run(agent, workload.prompt, { stream: true });
        for await (const _event of result);
        await result.completed;
        return result.finalOutput;
      }),
  };
};
