/** Calls a tool of the desk as the engine does: encoded parameters in, encoded result out, as one call with a key. */
import { Effect, Option, Stream } from "effect";

import { CurrentToolCall } from "#lib/current-tool-call.ts";
import { RetailToolkit } from "#server/demo/RetailToolkit.ts";

type ToolName = keyof typeof RetailToolkit.tools;

export const callTool = Effect.fn("callTool")(function* (
  name: ToolName,
  parameters: object,
  idempotencyKey: string,
) {
  const toolkit = yield* RetailToolkit;
  const identity = {
    idempotencyKey,
    threadId: "t",
    runId: "r",
    turn: 1,
    callId: idempotencyKey,
    attempt: 1,
  };
  return yield* toolkit.handle(name, parameters as never).pipe(
    Effect.flatMap(Stream.runLast),
    Effect.map((last) => Option.getOrThrow(last)),
    Effect.map(({ encodedResult, isFailure }) => ({ result: encodedResult, isFailure })),
    Effect.provideService(CurrentToolCall, identity),
  );
});
