/**
 * Field weights chosen on one half of the questions and judged on the other, both ways round: the weights in the
 * library were chosen with all of them in sight, which flatters them.
 */
import * as Effect from "effect/Effect";
import type * as ToolDiscovery from "#lib/tool-discovery.ts";
import {
  buildRankedIndex,
  type FieldBoosts,
  type RankedIndex,
} from "#lib/exposure/discovery/ranked-index.ts";
import type { Data, Question } from "./data.ts";
import { type Ask, makeAsk, mean, measureRecall, type Search } from "./measure.ts";

const grid: ReadonlyArray<FieldBoosts> = [1, 2, 3, 4].flatMap((namespace) =>
  [1, 2, 3].flatMap((name) =>
    [0.25, 0.5, 1].map((parameters) => ({ namespace, name, description: 1, parameters })),
  ),
);

const searchWith = (boosts: FieldBoosts): Search => {
  const indexes = new WeakMap<ReadonlyArray<ToolDiscovery.Descriptor>, RankedIndex>();
  return (request, catalogue) =>
    Effect.gen(function* () {
      const index = indexes.get(catalogue) ?? (yield* buildRankedIndex(catalogue, boosts));
      indexes.set(catalogue, index);
      return index.rank(request.query, 64);
    });
};

export interface HeldOut {
  readonly questions: number;
  readonly steps: number;
  readonly chosen: ReadonlyArray<FieldBoosts>;
}

export const heldOutRecall = async (data: Data): Promise<HeldOut> => {
  const halves = [0, 1].map((half) => data.questions.filter((_, index) => index % 2 === half));
  const tools = data.makeTools(1);
  const asks = grid.map((boosts) => ({
    boosts,
    ask: makeAsk(searchWith(boosts), tools, data.plainName),
  }));
  const judged: Array<{ questions: number; steps: number; boosts: FieldBoosts }> = [];
  for (const half of [0, 1]) {
    const chosen = await bestOn(asks, halves[half] ?? []);
    const { questions, steps } = await measureRecall(chosen.ask, halves[1 - half] ?? []);
    judged.push({ questions, steps, boosts: chosen.boosts });
  }
  return {
    questions: mean(judged.map(({ questions }) => questions)),
    steps: mean(judged.map(({ steps }) => steps)),
    chosen: judged.map(({ boosts }) => boosts),
  };
};

const bestOn = async (
  asks: ReadonlyArray<{ readonly boosts: FieldBoosts; readonly ask: Ask }>,
  questions: ReadonlyArray<Question>,
) => {
  const [first] = asks;
  if (first === undefined) throw new Error("The grid is empty.");
  let best = { ...first, score: -1 };
  for (const candidate of asks) {
    const recall = await measureRecall(candidate.ask, questions);
    const score = recall.questions + recall.steps;
    if (score > best.score) best = { ...candidate, score };
  }
  return best;
};
