import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as Stream from "effect/Stream";
import * as Agent from "#lib/agent/Agent.ts";
import * as AgentRuntime from "#lib/engine/AgentRuntime.ts";
import { makeEffectWorkload } from "./effect-workload.ts";
import type { Contender, Workload } from "./workload.ts";

export { makeUpstream } from "./upstream.ts";

/** This library: as many calls at once as the others run, everything else as it comes. */
export const makeOurs = (workload: Workload): Contender => {
  const { counted, model, runtime, toolkit } = makeEffectWorkload(workload);
  const agent = Agent.make("orders", {
    input: Schema.String,
    output: Schema.String,
    instructions: "Place orders.",
    toolkit,
    policy: { toolConcurrency: workload.calls.length, maxToolCalls: workload.calls.length },
  });
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
