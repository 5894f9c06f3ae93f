/** A model that answers by a function of the prompt and keeps nothing, so that a host with it can run for ever. */
import { Effect, Layer, Stream } from "effect";
import { LanguageModel, Model, type Prompt } from "effect/unstable/ai";
import { type ScriptedTurn, toResponseParts, toStreamParts } from "#lib/testing/scripted-turn.ts";

/** Characters of a streamed delta. */
const chunkSize = 64;

export const modelLayer = (
  answer: (request: { readonly prompt: Prompt.Prompt }) => ScriptedTurn,
): Layer.Layer<LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName> => {
  const ask = (request: { readonly prompt: Prompt.Prompt }) => {
    const turn = answer(request);
    return Effect.as(Effect.sleep(turn.delay ?? 0), turn);
  };
  const model = LanguageModel.make({
    generateText: (request) => Effect.map(ask(request), (turn) => [...toResponseParts(turn).parts]),
    streamText: (request) =>
      Stream.unwrap(
        Effect.map(ask(request), (turn) =>
          Stream.fromIterable(toStreamParts(turn, chunkSize).parts),
        ),
      ),
  });
  return Layer.mergeAll(
    Layer.effect(LanguageModel.LanguageModel, model),
    Layer.succeed(Model.ProviderName, "fleet"),
    Layer.succeed(Model.ModelName, "fleet"),
  );
};
