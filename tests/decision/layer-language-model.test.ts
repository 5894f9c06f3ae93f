import { assert, describe, it } from "@effect/vitest";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as AiError from "effect/unstable/ai/AiError";
import * as Decision from "effect/unstable/ai/Decision";
import * as DecisionModel from "effect/unstable/ai/DecisionModel";
import { toCodecAnthropic } from "effect/unstable/ai/AnthropicStructuredOutput";
import { toCodecOpenAI } from "effect/unstable/ai/OpenAiStructuredOutput";
import fc from "fast-check";
import { readAnswers } from "#lib/decision/decision-answers.ts";
import { questionsOf } from "#lib/decision/decision-questions.ts";
import { layerLanguageModel } from "#lib/decision/layer-language-model.ts";
import { json, ScriptedModel, type TurnScript } from "#lib/testing/ScriptedModel.ts";

const Triage = Decision.make({
  input: Schema.Struct({ message: Schema.String }),
  decisions: {
    department: Decision.classify({
      instructions: "Which team should handle this ticket?",
      criteria: { billing: "Payments and refunds", technical: "Bugs and outages" },
    }),
    anger: Decision.rate({
      instructions: "How angry is the customer?",
      criteria: ["calm", "a bit annoyed", "furious!"],
    }),
    urgent: Decision.probability({ instructions: "It cannot wait until tomorrow" }),
  },
});

const answer = {
  department: { billing: 3, technical: 1 },
  anger: { option1: 0.1, option2: 0.2, option3: 0.1 },
  urgent: { probability: 0.25 },
};

const decide = (
  turn: TurnScript,
  input: { message: string } = { message: "I was charged twice" },
) =>
  Effect.gen(function* () {
    const result = yield* Effect.result(DecisionModel.decide(Triage, { input }));
    return { result, requests: yield* Effect.flatMap(ScriptedModel, (model) => model.requests) };
  }).pipe(Effect.provide(layerLanguageModel), Effect.provide(ScriptedModel.layer([turn])));

describe("DecisionModel over a language model", () => {
  it.effect(
    "[DM-02] all three queries are answered by key; distributions sum to 1 and ratings may be fractional",
    () =>
      Effect.gen(function* () {
        const { result } = yield* decide(
          json(answer, { usage: { inputTokens: 12, outputTokens: 7 } }),
        );
        assert.strictEqual(result._tag, "Success");
        if (result._tag !== "Success") return;
        const { answers, usage } = result.success;
        assert.strictEqual(answers.department.label, "billing");
        assert.deepStrictEqual(
          { ...answers.department.probabilities },
          { billing: 0.75, technical: 0.25 },
        );
        assert.strictEqual(answers.anger.label, "a bit annoyed");
        assert.closeTo(answers.anger.rating, 1, 1e-9);
        assert.deepStrictEqual(Object.keys(answers.anger.probabilities), [
          "calm",
          "a bit annoyed",
          "furious!",
        ]);
        assert.strictEqual(answers.urgent.probability, 0.25);
        assert.deepStrictEqual([usage.inputTokens, usage.outputTokens], [12, 7]);
      }),
  );

  it.effect("[DM-01] the answer schema is one that strict OpenAI and Anthropic models accept", () =>
    Effect.gen(function* () {
      for (const codecTransformer of [toCodecOpenAI, toCodecAnthropic]) {
        const { answers } = yield* DecisionModel.decide(Triage, { input: { message: "hi" } }).pipe(
          Effect.provide(layerLanguageModel),
          Effect.provide(ScriptedModel.layer([json(answer)], { codecTransformer })),
        );
        assert.strictEqual(answers.department.label, "billing");
      }
    }),
  );

  it.effect(
    "[DM-01] [DM-03] one evaluation is one request that carries the encoded input and every question",
    () =>
      Effect.gen(function* () {
        const { requests } = yield* decide(json(answer));
        assert.strictEqual(requests.length, 1);
        const text = JSON.stringify(requests[0]);
        for (const part of [
          "I was charged twice",
          "Which team should handle",
          "How angry",
          "cannot wait until tomorrow",
          "furious!",
        ]) {
          assert.include(text, part);
        }
      }),
  );

  it.effect("[DM-04] a field the input schema does not encode is never sent", () =>
    Effect.gen(function* () {
      const input = { message: "hello", cardNumber: "canary-4111" };
      const { requests } = yield* decide(json(answer), input);
      assert.include(JSON.stringify(requests), "hello");
      assert.notInclude(JSON.stringify(requests), "canary");
    }),
  );

  it.effect(
    "answers that are no probabilities are refused typed, and nothing is asked twice [DM-06]",
    () =>
      Effect.gen(function* () {
        const broken = [
          { ...answer, department: { billing: 0, technical: 0 } },
          { ...answer, department: { billing: -1, technical: 2 } },
          { ...answer, urgent: { probability: 1.5 } },
          { ...answer, anger: { option1: 1 } },
          { department: answer.department },
          "not an object",
        ];
        for (const value of broken) {
          const { result, requests } = yield* decide(json(value));
          assert.strictEqual(requests.length, 1);
          assert.isTrue(
            result._tag === "Failure" && AiError.isAiError(result.failure),
            JSON.stringify(value),
          );
        }
      }),
  );

  it.effect("an input over the JSON bounds is refused before the model is asked", () =>
    Effect.gen(function* () {
      const { result, requests } = yield* decide(json(answer), { message: "x".repeat(1_100_000) });
      assert.strictEqual(requests.length, 0);
      assert.strictEqual(
        result._tag === "Failure" ? result.failure.reason._tag : "",
        "InvalidUserInputError",
      );
    }),
  );

  it("[DM-02] any non-negative numbers give a distribution that sums to 1 and a rating within the scale", () => {
    const questions = questionsOf(Triage.decisions);
    const weight = fc.double({ min: 0, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(weight, { minLength: 5, maxLength: 5 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (weights, probability) => {
          const [billing = 0, technical = 0, option1 = 0, option2 = 0, option3 = 0] = weights;
          fc.pre(billing + technical > 0 && option1 + option2 + option3 > 0);
          const read = readAnswers(questions, {
            department: { billing, technical },
            anger: { option1, option2, option3 },
            urgent: { probability },
          });
          assert.strictEqual(read._tag, "Success");
          if (read._tag !== "Success") return;
          const { department, anger } = read.success;
          for (const one of [department, anger]) {
            if (one === undefined || one._tag === "Probability") return assert.fail("wrong kind");
            const numbers = Object.values(one.probabilities);
            assert.closeTo(
              numbers.reduce((sum, number) => sum + number, 0),
              1,
              1e-9,
            );
            assert.isTrue(numbers.every((number) => number >= 0 && number <= 1));
          }
          assert.isTrue(anger?._tag === "Rate" && anger.rating >= 0 && anger.rating <= 2);
        },
      ),
    );
  });

  it("names that cannot be properties are numbered and come back as themselves", () => {
    const decision = Decision.classify({
      instructions: "?",
      criteria: { "yes, now": "a", __proto__x: "b", "": "c" },
    });
    const questions = questionsOf({ "is it?": decision });
    assert.deepStrictEqual(
      questions[0]?.options.map(({ wireName }) => wireName),
      ["option1", "option2", "option3"],
    );
    const read = readAnswers(questions, { question1: { option1: 0, option2: 0, option3: 2 } });
    assert.deepStrictEqual(read._tag === "Success" ? read.success : {}, {
      "is it?": {
        _tag: "Classify",
        label: "",
        probabilities: { "yes, now": 0, __proto__x: 0, "": 1 },
      },
    });
  });
});
