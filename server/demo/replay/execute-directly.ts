/** The handlers alone, without a runtime: decoding, handler, encoding, nothing durable. */
import { Effect, Option, Stream } from "effect";

import { RetailToolkit } from "../RetailToolkit.ts";
import { resultText } from "./json-equal.ts";
import type { RecordedCall, RecordedTask } from "./recorded-tasks.ts";

export const executeDirectly = Effect.fn("executeDirectly")(function* (task: RecordedTask) {
  const toolkit = yield* RetailToolkit;
  const execute = Effect.fn("executeDirectly.call")(function* ({
    tool,
    arguments: parameters,
  }: RecordedCall) {
    // Names and parameters come from the data set; `handle` decodes them and refuses what no tool declares.
    const stream = yield* toolkit.handle(
      tool as keyof typeof RetailToolkit.tools,
      parameters as never,
    );
    const last = yield* Stream.runLast(stream);
    return Option.match(last, {
      onNone: () => "",
      onSome: ({ encodedResult }) => resultText(encodedResult),
    });
  });
  return yield* Effect.forEach(task.actions, execute);
});
