import * as Effect from "effect/Effect";
import * as ManagedRuntime from "effect/ManagedRuntime";
import * as Schema from "effect/Schema";
import * as Stream from "effect/Stream";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import * as Agent from "#lib/agent/Agent.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import type { Contender, Counter, Workload } from "./workload.ts";

/** This library: as many calls at once as the others run, everything else as it comes. */
export const makeOurs = (workload: Workload): Contender => {
  const place = Tool.make(workload.toolName, {
    description: workload.toolDescription,
    parameters: Schema.Struct({
      orderId: Schema.String.check(Schema.isMinLength(1)),
      quantity: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
      tags: Schema.Array(Schema.String),
      address: Schema.Struct({ city: Schema.String, zip: Schema.String }),
    }),
    success: Schema.Struct({ orderId: Schema.String, total: Schema.Number, city: Schema.String }),
  });
  const toolkit = Toolkit.make(place);
  const counter: Counter = { handled: 0 };
  const handler = workload.makeHandler(counter);
  const agent = Agent.make("orders", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Place orders.",
    toolkit,
    policy: { toolConcurrency: workload.calls.length, maxToolCalls: workload.calls.length },
  });
  const script = [
    toolCalls(
      workload.calls.map(({ id, parameters }) => ({
        id,
        name: workload.toolName,
        params: parameters,
      })),
    ),
    text(workload.lastAnswer),
  ];
  // Arguments come as one piece, as in the others' mocks.
  const model = ScriptedModel.layer(script, { chunkSize: 4_096 });
  const runtime = ManagedRuntime.make(
    toolkit.toLayer({ [workload.toolName]: (line) => Effect.promise(() => handler(line)) }),
  );
  const counted = async (run: () => Promise<string>) => {
    counter.handled = 0;
    return { answer: await run(), handled: counter.handled };
  };
  return {
    name: "effect-agent",
    whole: () =>
      counted(() =>
        runtime.runPromise(
          AgentRuntime.run(agent, workload.prompt).pipe(
            Effect.map(({ output }) => output),
            Effect.provide(model),
          ),
        ),
      ),
    streamed: () =>
      counted(() =>
        runtime.runPromise(
          AgentRuntime.stream(agent, workload.prompt).pipe(
            Stream.runFold(
              () => "",
              (answer, event) => (event._tag === "RunCompleted" ? String(event.output) : answer),
            ),
            Effect.provide(model),
          ),
        ),
      ),
  };
};
