import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Result from "effect/Result";
import * as AiError from "effect/unstable/ai/AiError";
import * as DecisionModel from "effect/unstable/ai/DecisionModel";
import * as LanguageModel from "effect/unstable/ai/LanguageModel";
import { checkJsonBounds } from "#lib/contract/json/json-bounds.ts";
import { readAnswers } from "./decision-answers.ts";
import { answerSchema, decisionPrompt, questionsOf } from "./decision-questions.ts";

/**
 * A `DecisionModel` over any `LanguageModel` with structured output (DM-01).
 *
 * One evaluation is one model request with the encoded input and all questions (DM-03, DM-04). Nothing is
 * retried and there is no timeout of its own: the caller chooses both (DM-06). The probabilities are a
 * model's estimates, normalised and bounded; they inform thresholds and permit nothing (DM-05).
 *
 * Failures are `AiError`s: those of the model, `InvalidOutputError` for answers that are no probabilities,
 * `InvalidUserInputError` for an input over the JSON bounds (PG-06).
 */
export const layerLanguageModel: Layer.Layer<
  DecisionModel.DecisionModel,
  never,
  LanguageModel.LanguageModel
> = Layer.effect(
  DecisionModel.DecisionModel,
  Effect.flatMap(LanguageModel.LanguageModel, (model) =>
    DecisionModel.make({ decide: (request) => decideWith(model, request) }),
  ),
);

const decideWith = Effect.fnUntraced(function* (
  model: LanguageModel.LanguageModel,
  request: DecisionModel.ProviderOptions,
): Effect.fn.Return<DecisionModel.ProviderResponse, AiError.AiError> {
  const state = yield* Effect.fromResult(
    Result.mapError(checkJsonBounds(request.state), invalidInput),
  );
  const questions = questionsOf(request.decisions);
  const response = yield* model.generateObject({
    objectName: "decisions",
    prompt: decisionPrompt(state, questions),
    schema: answerSchema(questions),
  });
  const answers = yield* Effect.fromResult(readAnswers(questions, response.value));
  return {
    answers,
    usage: {
      inputTokens: response.usage.inputTokens.total,
      outputTokens: response.usage.outputTokens.total,
    },
  };
});

const invalidInput = (error: { readonly message: string }): AiError.AiError =>
  AiError.make({
    module: "DecisionModel",
    method: "decide",
    reason: new AiError.InvalidUserInputError({ description: error.message }),
  });
