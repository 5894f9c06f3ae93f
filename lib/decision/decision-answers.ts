import * as Result from "effect/Result";
import * as AiError from "effect/unstable/ai/AiError";
import type * as DecisionModel from "effect/unstable/ai/DecisionModel";
import type { DecisionAnswers, DecisionQuestion } from "./decision-questions.ts";

/**
 * Turns the numbers of a model into answers that add up (DM-02): the options of a question are divided by
 * their sum, the label is the most probable option (the first of equals), a rating is the
 * probability-weighted position between 0 and the last level. A negative number, a question without any
 * probability and a single probability outside 0 to 1 are refused, not guessed at.
 *
 * @returns answers by decision name, or `AiError` with reason `InvalidOutputError`
 */
export const readAnswers = (
  questions: ReadonlyArray<DecisionQuestion>,
  answers: DecisionAnswers,
): Result.Result<Readonly<Record<string, DecisionModel.ProviderAnswer>>, AiError.AiError> => {
  const read: Array<readonly [string, DecisionModel.ProviderAnswer]> = [];
  for (const question of questions) {
    const numbers = question.options.map((option) => answers[question.wireName]?.[option.wireName]);
    const answer = readAnswer(question, numbers);
    if (typeof answer === "string") return Result.fail(invalidOutput(question.name, answer));
    read.push([question.name, answer]);
  }
  return Result.succeed(Object.fromEntries(read));
};

const readAnswer = (
  question: DecisionQuestion,
  numbers: ReadonlyArray<number | undefined>,
): DecisionModel.ProviderAnswer | string => {
  const weights: Array<number> = [];
  for (const number of numbers) {
    if (number === undefined || !Number.isFinite(number)) return "a number is missing";
    if (number < 0) return `${number} is no probability`;
    weights.push(number);
  }
  if (question.decision._tag === "Probability") {
    const [probability = Number.NaN] = weights;
    return probability <= 1
      ? { _tag: "Probability", probability }
      : `${probability} is no probability`;
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!(sum > 0) || !Number.isFinite(sum)) return "the probabilities have no finite sum above 0";
  const shares = weights.map((weight) => weight / sum);
  const probabilities = Object.fromEntries(
    question.options.map((option, index) => [option.name, shares[index] ?? 0]),
  );
  if (question.decision._tag === "Rate") {
    const rating = shares.reduce((position, share, index) => position + share * index, 0);
    // Rounding can pass the last level by a hair.
    return { _tag: "Rate", rating: Math.min(rating, shares.length - 1), probabilities };
  }
  const label = question.options[shares.indexOf(Math.max(...shares))]?.name ?? "";
  return { _tag: "Classify", label, probabilities };
};

const invalidOutput = (name: string, why: string): AiError.AiError =>
  AiError.make({
    module: "DecisionModel",
    method: "decide",
    reason: new AiError.InvalidOutputError({
      description: `The model's answer to the decision ${JSON.stringify(name)} is invalid: ${why}.`,
    }),
  });
