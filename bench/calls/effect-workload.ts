import * as Effect from "effect/Effect";
import * as ManagedRuntime from "effect/ManagedRuntime";
import * as Schema from "effect/Schema";
import * as Tool from "effect/unstable/ai/Tool";
import * as Toolkit from "effect/unstable/ai/Toolkit";
import { ScriptedModel, text, toolCalls } from "#lib/testing/ScriptedModel.ts";
import type { Counter, Workload } from "./workload.ts";

/** The workload as Effect AI declares it: for this library and for upstream without it. */
export const makeEffectWorkload = (workload: Workload) => {
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
  return {
    toolkit,
    // Arguments come as one piece, as in the others' mocks.
    model: ScriptedModel.layer(script, { chunkSize: 4_096 }),
    runtime: ManagedRuntime.make(
      toolkit.toLayer({ [workload.toolName]: (line) => Effect.promise(() => handler(line)) }),
    ),
    counted: async (run: () => Promise<string>) => {
      counter.handled = 0;
      return { answer: await run(), handled: counter.handled };
    },
  };
};
