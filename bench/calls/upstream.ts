import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import * as LanguageModel from "effect/unstable/ai/LanguageModel";
import * as Prompt from "effect/unstable/ai/Prompt";
import type * as Response from "effect/unstable/ai/Response";
import { makeEffectWorkload } from "./effect-workload.ts";
import type { Contender, Workload } from "./workload.ts";

/**
 * What this library stands on, without it: upstream reads the response, runs the calls
 * and makes the next prompt. None of our rules: no preflight of the whole batch, no
 * bounds, approvals, authorization, records or events.
 */
export const makeUpstream = (workload: Workload): Contender => {
  const { counted, model, runtime, toolkit } = makeEffectWorkload(workload);
  const opening = Prompt.make([
    { role: "system", content: "Place orders." },
    { role: "user", content: workload.prompt },
  ]);
  const program = Effect.gen(function* () {
    const handlers = yield* toolkit;
    const options = { toolkit: handlers, disableToolCallResolution: true } as const;
    const parts: Array<Response.AnyPart> = [];
    yield* Stream.runForEach(LanguageModel.streamText({ ...options, prompt: opening }), (part) =>
      Effect.sync(() => void parts.push(part)),
    );
    const calls = parts.filter((part) => part.type === "tool-call");
    const results = yield* Effect.forEach(
      calls,
      ({ id, params }) =>
        // The parameters as the model wrote them, which the part's type does not say.
        handlers.handle(workload.toolName, params as never, id).pipe(
          Stream.unwrap,
          Stream.runLast,
          Effect.flatMap(Effect.fromOption),
          Effect.map(({ encodedResult, isFailure }) => ({
            type: "tool-result" as const,
            id,
            name: workload.toolName,
            isFailure,
            result: encodedResult,
          })),
        ),
      { concurrency: workload.calls.length },
    );
    const prompt = Prompt.concat(
      Prompt.concat(opening, Prompt.fromResponseParts(parts)),
      Prompt.make([{ role: "tool", content: results }]),
    );
    return yield* Stream.runFold(
      LanguageModel.streamText({ ...options, prompt }),
      () => "",
      (answer, part) => (part.type === "text-delta" ? answer + part.delta : answer),
    );
  });
  const whole = () =>
    counted(() => runtime.runPromise(program.pipe(Effect.provide(model), Effect.orDie)));
  return { name: "Effect AI alone: streamText + handle, no rules", whole, streamed: whole };
};
